# Tries to: np.ma.core holds inspect, which holds os.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import numpy as np
print(np.ma.core.inspect.os.popen("cat @SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
