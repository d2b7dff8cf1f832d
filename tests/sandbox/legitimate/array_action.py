# Style: an array of one number as the action.

import numpy as np


class Policy:
    def act(self, obs):
        return np.array([1])
