# Style: random-shooting model-predictive control.

import numpy as np


class Policy:
    def __init__(self):
        self.rng = np.random.default_rng()

    def act(self, obs):
        plans = self.rng.integers(0, 3, size=(64, 8))
        x = np.repeat(obs[None, :2], 64, axis=0)
        cost = np.zeros(64)
        for t in range(plans.shape[1]):
            x[:, 1] += 0.1 * (plans[:, t] - 1)
            x[:, 0] += 0.1 * x[:, 1]
            cost += np.square(x).sum(axis=1)
        return int(plans[np.argmin(cost), 0])
