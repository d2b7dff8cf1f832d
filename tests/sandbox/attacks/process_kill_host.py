# Tries to: kill the host.
# Must be stopped by: seccomp; landlock's signal scope.

import os, signal
os.kill(int("@HOSTPID@"), signal.SIGKILL)


class Policy:
    def act(self, obs):
        return 0
