# Tries to: remember across episodes on a ufunc.
# Must be stopped by: guest: the facade has its call, which has no attributes.

import numpy as np


class Memory:
    def seen(self):
        try:
            self.T += 1
        except AttributeError:
            self.T = 1
        return self.T


class Policy:
    def act(self, obs):
        try:
            return min(2, Memory.seen(np.sin) // 12)
        except AttributeError:
            return 0
