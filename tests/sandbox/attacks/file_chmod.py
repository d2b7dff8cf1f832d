# Tries to: change the secret's mode.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import os
os.chmod("@SECRET@", 0)


class Policy:
    def act(self, obs):
        return 0
