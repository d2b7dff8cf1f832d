# Tries to: an einsum over ten axes never ends.
# Must be stopped by: step deadline.

import numpy as np
class Policy:
    def act(self, obs):
        x = np.ones((6,) * 12)
        return int(np.einsum("abcdefghijkl,lkjihgfedcba,abcdefghijkl,m->m", x, x, x, np.ones(1000), optimize=False)[0])
