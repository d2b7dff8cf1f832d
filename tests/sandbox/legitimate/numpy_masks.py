# Style: boolean masks and where.

import numpy as np


class Policy:
    def act(self, obs):
        x = np.where(obs > 0, obs, -obs)
        mask = (x > 0.1) & ~(x > 0.9)
        return int(np.count_nonzero(mask)) % 3
