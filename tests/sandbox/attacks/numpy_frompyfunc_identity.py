# Tries to: frompyfunc calls back into Python with an object identity.
# Must be stopped by: process: at worst this guest dies.

import numpy as np
f = np.frompyfunc(lambda *a: a, 31, 31)
print(f(*range(31)))
print(open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
