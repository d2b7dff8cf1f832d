# Tries to: open a memory map through lib.format.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.lib.format.open_memmap("@RUNDIR@/x.npy", "w+", shape=(3,)))


class Policy:
    def act(self, obs):
        return 0
