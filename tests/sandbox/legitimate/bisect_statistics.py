# Style: bisect and medians.

import bisect
import numpy as np


class Policy:
    def __init__(self):
        self.xs = []

    def act(self, obs):
        self.xs.append(float(obs[0]))
        self.xs.sort()
        i = bisect.bisect_left(self.xs, 0.0)
        m = np.median(self.xs)
        return (i + int(m > 0) + 2) % 3
