# Tries to: replace numpy functions for whoever comes next.
# Must be stopped by: process: a fresh guest for each source; within it the modules are frozen.

import numpy as np
np.clip = lambda *a, **k: 0
np.asarray = None
np.mean.memory = 1


class Policy:
    def act(self, obs):
        return 0
