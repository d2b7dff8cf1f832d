# Tries to: function pointers of a bit generator.
# Must be stopped by: process: at worst this guest dies.

import numpy as np
g = np.random.PCG64()
print(g.ctypes.next_uint64, g.cffi)
print(open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
