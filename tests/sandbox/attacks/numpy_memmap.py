# Tries to: map a file into memory.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(bytes(np.memmap("@SECRET@", np.uint8, "r")))


class Policy:
    def act(self, obs):
        return 0
