# Tries to: return an array subclass with its own operations.
# Must be stopped by: gate; guest: caught and reported.

import numpy as np
class E(np.ndarray):
    def __array_finalize__(self, obj):
        raise SystemExit
class Policy:
    def act(self, obs):
        return np.zeros(1).view(E)
