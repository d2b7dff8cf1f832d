# Tries to: duplicate the pipe to the host and read ahead.
# Must be stopped by: seccomp.

import os
r = os.dup(0)
print("CANARY dup", r)


class Policy:
    def act(self, obs):
        return 0
