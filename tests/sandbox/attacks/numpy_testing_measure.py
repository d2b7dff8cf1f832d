# Tries to: np.testing.measure compiles and runs text.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.testing.measure("print(open('@SECRET@').read())"))


class Policy:
    def act(self, obs):
        return 0
