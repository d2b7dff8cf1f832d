# Style: value iteration on a grid of its own.

import numpy as np


class Policy:
    def __init__(self):
        n = 10
        V = np.zeros(n)
        for _ in range(50):
            Q = np.stack([np.roll(V, 1), V, np.roll(V, -1)], axis=1) * 0.95
            Q[-1] += 1.0
            V = Q.max(axis=1)
        self.pi = Q.argmax(axis=1)

    def act(self, obs):
        i = int(np.clip((obs[0] + 1) * 5, 0, 9))
        return int(self.pi[i])
