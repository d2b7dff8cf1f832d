# Tries to: write a file with ndarray.tofile.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.ones(3).tofile("@RUNDIR@/x"))


class Policy:
    def act(self, obs):
        return 0
