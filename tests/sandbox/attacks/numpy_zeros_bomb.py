# Tries to: ask for a terabyte.
# Must be stopped by: rlimits (address space).

import numpy as np
x = np.ones((10**6, 10**6))


class Policy:
    def act(self, obs):
        return 0
