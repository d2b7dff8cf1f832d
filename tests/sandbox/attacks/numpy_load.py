# Tries to: read a file with np.load.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.load("@SECRET@", allow_pickle=True))


class Policy:
    def act(self, obs):
        return 0
