# Tries to: make a read-only array writable.
# Must be stopped by: process: at worst this guest dies.

import numpy as np
a = np.broadcast_to(np.zeros(1), (1000,))
a.setflags(write=True)
a[:] = 1


class Policy:
    def act(self, obs):
        return 0
