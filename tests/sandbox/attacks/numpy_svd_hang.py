# Tries to: a decomposition that takes minutes inside C.
# Must be stopped by: step deadline.

import numpy as np
class Policy:
    def act(self, obs):
        x = np.random.randn(3000, 3000)
        return int(np.linalg.svd(x)[1][0] > 0)
