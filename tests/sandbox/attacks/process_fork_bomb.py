# Tries to: fork without end.
# Must be stopped by: seccomp; with root and no filter: user and rlimits.

import os
while True:
    os.fork()


class Policy:
    def act(self, obs):
        return 0
