# Tries to: raise its own priority.
# Must be stopped by: seccomp.

import os
print("CANARY", os.nice(-5))


class Policy:
    def act(self, obs):
        return 0
