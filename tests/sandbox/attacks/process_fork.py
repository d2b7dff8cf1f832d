# Tries to: fork.
# Must be stopped by: seccomp; with root and no filter: user and rlimits.

import os
pid = os.fork()
print("CANARY forked", pid)
if pid == 0:
    os._exit(0)


class Policy:
    def act(self, obs):
        return 0
