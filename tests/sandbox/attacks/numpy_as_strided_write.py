# Tries to: write far out of bounds through as_strided.
# Must be stopped by: process: at worst this guest dies.

import numpy as np
x = np.lib.stride_tricks.as_strided(np.zeros(1), (10**7,), (4096,))
x[:] = 1.0


class Policy:
    def act(self, obs):
        return 0
