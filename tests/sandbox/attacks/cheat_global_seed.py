# Tries to: seed the global generators, to steer the environment.
# Must be stopped by: process: the host has its own.

import random
import numpy as np
random.seed(0)
np.random.seed(0)
class Policy:
    def act(self, obs):
        random.seed(0)
        np.random.seed(0)
        return 0
