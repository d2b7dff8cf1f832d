# Tries to: an object whose __array_interface__ points anywhere.
# Must be stopped by: process: at worst this guest dies.

import numpy as np
class Evil:
    __array_interface__ = {"shape": (10,), "typestr": "<i8", "data": (0xDEAD0000, False), "version": 3}
print(np.asarray(Evil()).sum())


class Policy:
    def act(self, obs):
        return 0
