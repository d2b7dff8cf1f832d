# Style: a generator with a seed of its own.

import random


class Policy:
    def __init__(self):
        self.rng = random.Random(42)
        self.deck = [0, 1, 2]

    def act(self, obs):
        self.rng.shuffle(self.deck)
        return self.deck[0]
