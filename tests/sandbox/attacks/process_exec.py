# Tries to: replace the process with a shell.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import os
os.execv("/bin/sh", ["sh", "-c", "cat @SECRET@"])


class Policy:
    def act(self, obs):
        return 0
