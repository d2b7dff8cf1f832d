# Style: table lookup by interpolation.

import numpy as np


class Policy:
    def act(self, obs):
        y = np.interp(obs[0], [-1, 0, 1], [0.0, 1.0, 2.0])
        return int(round(float(y)))
