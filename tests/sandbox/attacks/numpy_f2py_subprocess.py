# Tries to: f2py holds subprocess.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.f2py.subprocess.check_output("cat @SECRET@", shell=True))


class Policy:
    def act(self, obs):
        return 0
