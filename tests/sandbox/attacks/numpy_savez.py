# Tries to: write a file with np.savez.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.savez("@RUNDIR@/x.npz", np.ones(3)))


class Policy:
    def act(self, obs):
        return 0
