# Tries to: map a file for writing and change it.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
np.memmap("@SECRET@", np.uint8, "r+")[:] = 0
print(np.memmap("@SECRET@", np.uint8, "r+"))


class Policy:
    def act(self, obs):
        return 0
