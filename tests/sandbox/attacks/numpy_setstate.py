# Tries to: give an array a forged state.
# Must be stopped by: process: at worst this guest dies.

import numpy as np
a = np.zeros(3)
a.__setstate__((1, (10**9,), np.dtype("f8"), False, b"x"))
print(a[10**8])


class Policy:
    def act(self, obs):
        return 0
