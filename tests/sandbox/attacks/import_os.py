# Tries to: import os and list the run directory.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import os
print(os.listdir("@RUNDIR@"))


class Policy:
    def act(self, obs):
        return 0
