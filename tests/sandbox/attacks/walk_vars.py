# Tries to: use vars() on a module to find what it imported.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import random
print(vars(random)["_os"].listdir("@RUNDIR@"))


class Policy:
    def act(self, obs):
        return 0
