# Tries to: write a file with np.save.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.save("@RUNDIR@/x.npy", np.ones(3)))


class Policy:
    def act(self, obs):
        return 0
