# Tries to: reach ctypes through an array.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.ones(3).ctypes._ctypes.CDLL(None).getpid())


class Policy:
    def act(self, obs):
        return 0
