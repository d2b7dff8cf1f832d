# Tries to: open descriptors without end.
# Must be stopped by: seccomp; descriptors.

import os
while True:
    os.dup(0)


class Policy:
    def act(self, obs):
        return 0
