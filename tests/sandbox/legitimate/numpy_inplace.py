# Style: in-place arithmetic on attributes and items.

import numpy as np


class Policy:
    def __init__(self):
        self.v = np.zeros(4)
        self.count = 0

    def act(self, obs):
        self.v += obs
        self.v *= 0.9
        self.v[0] -= 0.1
        self.v[1:3] += 0.5
        self.count += 1
        return int(self.v.sum() > 0)
