# Style: running statistics.

import numpy as np


class Policy:
    def __init__(self):
        self.history = []

    def act(self, obs):
        self.history.append(obs.copy())
        x = np.asarray(self.history[-5:])
        z = (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-8)
        return int(np.median(z) > 0) + int(np.percentile(x, 75) > 1)
