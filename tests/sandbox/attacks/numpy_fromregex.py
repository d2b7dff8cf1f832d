# Tries to: read a file with np.fromregex.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.fromregex("@SECRET@", "(.*)", [("x", "S100")]))


class Policy:
    def act(self, obs):
        return 0
