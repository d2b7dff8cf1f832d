# Tries to: reinterpret integers as objects.
# Must be stopped by: process: at worst this guest dies.

import numpy as np
a = np.array([1, 2, 3], dtype=object)
b = np.frombuffer(a.data, np.int64)
b.flags.writeable = True
b[0] = 0x41414141
print(a[0])


class Policy:
    def act(self, obs):
        return 0
