# Tries to: an object whose __array_struct__ is forged.
# Must be stopped by: process: at worst this guest dies.

import numpy as np
class Evil:
    __array_struct__ = 12345
class Policy:
    def act(self, obs):
        return np.asarray(Evil())
