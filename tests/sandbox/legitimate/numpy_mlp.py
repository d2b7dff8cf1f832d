# Style: a small network with fixed weights.

import numpy as np


class Policy:
    def __init__(self):
        rng = np.random.default_rng(0)
        self.W1 = rng.normal(size=(8, 4))
        self.b1 = rng.standard_normal(8) * 0.1
        self.W2 = rng.normal(0, 1, (3, 8))

    def act(self, obs):
        h = np.tanh(self.W1.dot(obs) + self.b1)
        logits = self.W2 @ h
        p = np.exp(logits - logits.max())
        p /= p.sum()
        return int(p.argmax())
