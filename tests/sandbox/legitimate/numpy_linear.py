# Style: a linear policy.

import numpy as np


class Policy:
    def __init__(self):
        self.W = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 0]])
        self.b = np.zeros(3)

    def act(self, obs):
        return int(np.argmax(self.W @ obs + self.b))
