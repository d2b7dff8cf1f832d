# Tries to: overwrite the secret with np.savetxt.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.savetxt("@SECRET@", np.ones(3)))


class Policy:
    def act(self, obs):
        return 0
