# Tries to: delete the secret.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import os
os.unlink("@SECRET@")


class Policy:
    def act(self, obs):
        return 0
