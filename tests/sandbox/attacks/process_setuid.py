# Tries to: become root again.
# Must be stopped by: seccomp; user.

import os
os.setresuid(0, 0, 0)
print("CANARY root")


class Policy:
    def act(self, obs):
        return 0
