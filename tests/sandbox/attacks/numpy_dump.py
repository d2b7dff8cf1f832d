# Tries to: write a pickle with ndarray.dump.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.ones(3).dump("@RUNDIR@/x"))


class Policy:
    def act(self, obs):
        return 0
