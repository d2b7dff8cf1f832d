# Tries to: move the secret away.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import os
os.rename("@SECRET@", "@SECRET@.moved")


class Policy:
    def act(self, obs):
        return 0
