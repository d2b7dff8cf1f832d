# Tries to: resize an array under a view and write through the view.
# Must be stopped by: process: at worst this guest dies.

import numpy as np
a = np.zeros(10**6)
v = a[:]
a.resize(1, refcheck=False)
v[:] = 7.0


class Policy:
    def act(self, obs):
        return 0
