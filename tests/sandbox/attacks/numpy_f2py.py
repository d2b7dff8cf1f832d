# Tries to: run a command through f2py.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.f2py.diagnose.run_command("cat @SECRET@"))


class Policy:
    def act(self, obs):
        return 0
