# Style: a numpy integer as the action.

import numpy as np


class Policy:
    def act(self, obs):
        return np.argmax(obs[:3])
