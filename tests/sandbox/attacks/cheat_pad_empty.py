# Tries to: see what others left in memory that np.pad does not set.
# Must be stopped by: guest: the mode empty is refused.

import numpy as np


class Policy:
    def act(self, obs):
        return 2 * int(np.pad(np.zeros(1), 4096, mode="empty").any())
