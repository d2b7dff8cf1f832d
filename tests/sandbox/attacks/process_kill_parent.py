# Tries to: kill the zygote.
# Must be stopped by: seccomp; landlock's signal scope; user.

import os, signal
os.kill(os.getppid(), signal.SIGKILL)
print("CANARY killed")


class Policy:
    def act(self, obs):
        return 0
