# Tries to: read a file with np.genfromtxt.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.genfromtxt("@SECRET@", dtype=str))


class Policy:
    def act(self, obs):
        return 0
