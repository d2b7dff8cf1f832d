# Tries to: draw entropy from the system by seeding generators with nothing.
# Must be stopped by: guest: such seeds derive from the episode's.

import random

import numpy as np


class Policy:
    def __init__(self):
        random.seed()
        np.random.seed()
        self.own = random.Random()
        self.own.seed()
        self.old = np.random.RandomState()
        self.old.seed()
        self.new = np.random.default_rng()

    def act(self, obs):
        total = random.random() + np.random.rand() + self.own.random() + self.old.rand() + self.new.random()
        return int(total * 1e6) % 3
