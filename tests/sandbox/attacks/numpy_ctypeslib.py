# Tries to: load a library through np.ctypeslib.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.ctypeslib.load_library("libc.so.6", "/lib").system(b"cat @SECRET@"))


class Policy:
    def act(self, obs):
        return 0
