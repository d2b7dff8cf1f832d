# Tries to: take os from sys.modules.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import sys
print(sys.modules["os"].listdir("@RUNDIR@"))


class Policy:
    def act(self, obs):
        return 0
