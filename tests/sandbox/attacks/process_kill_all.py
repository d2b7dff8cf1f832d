# Tries to: signal every process that may be signalled.
# Must be stopped by: seccomp.

import os, signal
os.kill(-1, signal.SIGKILL)


class Policy:
    def act(self, obs):
        return 0
