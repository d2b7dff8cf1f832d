# Tries to: AttributeError carries the object it failed on.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import math
try:
    math.nothing
except AttributeError as e:
    print(e.obj.__loader__.load_module("posix").listdir("@RUNDIR@"))


class Policy:
    def act(self, obs):
        return 0
