# Tries to: read a file with np.fromfile.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(bytes(np.fromfile("@SECRET@", np.uint8)))


class Policy:
    def act(self, obs):
        return 0
