# Tries to: stop oneself, so that the host waits.
# Must be stopped by: seccomp; else the step deadline.

import os, signal
os.kill(os.getpid(), signal.SIGSTOP)


class Policy:
    def act(self, obs):
        return 0
