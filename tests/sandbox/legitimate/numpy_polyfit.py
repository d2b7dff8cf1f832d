# Style: a polynomial fit.

import numpy as np


class Policy:
    def act(self, obs):
        c = np.polyfit(np.arange(4), obs, 2)
        return int(np.polyval(c, 4) > 0)
