# Tries to: open the host's descriptors through /proc.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import os
print("CANARY", os.listdir("/proc/@HOSTPID@/fd"))


class Policy:
    def act(self, obs):
        return 0
