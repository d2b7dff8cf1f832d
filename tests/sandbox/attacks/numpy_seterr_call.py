# Tries to: make floating-point errors call our function.
# Must be stopped by: process: a fresh guest for each source.

import numpy as np
np.seterrcall(lambda *a: print(open("@SECRET@").read()))
np.seterr(all="call")
np.ones(1) / 0


class Policy:
    def act(self, obs):
        return 0
