# Style: least squares and norms.

import numpy as np


class Policy:
    def act(self, obs):
        A = np.vstack([obs, np.ones(4)]).T
        slope, offset = np.linalg.lstsq(A, np.arange(4.0), rcond=None)[0]
        return int(np.linalg.norm([slope, offset]) > 1)
