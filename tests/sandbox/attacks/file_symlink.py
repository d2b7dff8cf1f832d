# Tries to: link the secret into the current directory.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import os
os.symlink("@SECRET@", "x")
print(open("x").read())


class Policy:
    def act(self, obs):
        return 0
