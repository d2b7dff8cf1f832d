# Tries to: grow an array by doubling.
# Must be stopped by: rlimits (address space).

import numpy as np
x = np.ones(10)
while True:
    x = np.concatenate([x, x])


class Policy:
    def act(self, obs):
        return 0
