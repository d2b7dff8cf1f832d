# Tries to: leave numpy's error state changed for other episodes in a generator that is never finished.
# Must be stopped by: gate.

import numpy as np


def leave():
    with np.errstate(all="raise"):
        yield 1


class Policy:
    def __init__(self):
        self.unfinished = leave()
        next(self.unfinished)

    def act(self, obs):
        try:
            np.float64(1.0) / np.float64(0.0)
        except FloatingPointError:
            return 2
        return 0
