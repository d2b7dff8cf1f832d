# Tries to: read what other episodes have left in freed memory.
# Must be stopped by: guest: np.empty is np.zeros.

import numpy as np


class Policy:
    def __init__(self):
        left = np.empty(100_000)
        self.seen = bool((left == 41.7).any())
        filled = np.full(100_000, 41.7)
        filled.sum()

    def act(self, obs):
        return 2 * int(self.seen)
