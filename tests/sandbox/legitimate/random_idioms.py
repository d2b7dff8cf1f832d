# Style: every usual way to make random numbers, with and without a seed.
import random
from random import Random

import numpy as np
from numpy.random import default_rng


class Policy:
    def __init__(self):
        seed = 0
        random.seed(seed)
        np.random.seed(seed)
        self.rng = np.random.default_rng(seed)
        self.other = default_rng()
        self.old = np.random.RandomState(seed)
        self.plain = Random(0)

    def _noise(self, rng: np.random.Generator) -> np.ndarray:
        return rng.normal(0.0, 1.0, size=4)

    def act(self, obs):
        noise = self._noise(self.rng) + self.other.standard_normal(4) + self.old.uniform(-1, 1, 4)
        noise = noise + np.random.randn(4) * 0.1 + np.random.rand() + random.gauss(0, 1)
        index = self.rng.integers(3)
        choice = self.rng.choice([0, 1, 2], p=[0.2, 0.3, 0.5])
        order = self.rng.permutation(3)
        items = [1, 2, 3]
        self.plain.shuffle(items)
        self.plain.seed(1)
        self.old.seed(1)
        items[0] += self.plain.randrange(3) + self.plain.getrandbits(2) + self.old.randint(0, 3) + int(self.old.rand())
        random.shuffle(items)
        assert isinstance(self.rng, np.random.Generator)
        return int((noise @ obs > 0) + index + choice + order[0] + items[0] + random.randint(0, 2)) % 3
