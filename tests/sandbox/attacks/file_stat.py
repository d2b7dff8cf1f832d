# Tries to: look whether files exist.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import os
os.stat("@SECRET@")
print("CANARY stat")


class Policy:
    def act(self, obs):
        return 0
