# Tries to: np.testing.runstring executes text.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.testing.runstring("print(open('@SECRET@').read())", {}))


class Policy:
    def act(self, obs):
        return 0
