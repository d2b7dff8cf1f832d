# Style: the cross-entropy method in act.

import numpy as np


class Policy:
    def act(self, obs):
        mu, sigma = np.zeros(5), np.ones(5)
        for _ in range(3):
            samples = np.random.normal(mu, sigma, (32, 5))
            scores = -np.abs(samples.sum(1) - obs[0])
            elite = samples[np.argsort(scores)[-6:]]
            mu, sigma = elite.mean(axis=0), elite.std(axis=0) + 1e-3
        return int(np.clip(round(mu[0]) + 1, 0, 2))
