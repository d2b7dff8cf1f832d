# Tries to: np.ma.core holds builtins.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.ma.core.builtins.open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
