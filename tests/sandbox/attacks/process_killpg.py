# Tries to: signal the own process group.
# Must be stopped by: seccomp; session.

import os, signal
os.killpg(0, signal.SIGKILL)


class Policy:
    def act(self, obs):
        return 0
