# Tries to: a matrix product that takes minutes inside C.
# Must be stopped by: step deadline.

import numpy as np
class Policy:
    def act(self, obs):
        x = np.ones((3500, 3500))
        for _ in range(100):
            x = x @ x
        return 0
