# Tries to: show_runtime prints what it finds in the system.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.show_runtime(), open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
