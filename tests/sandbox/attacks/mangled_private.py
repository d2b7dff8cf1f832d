# Tries to: use name mangling to spell a private attribute.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

class _os:
    def f(self, m):
        return m.__os
import random
print(random._os.listdir("@RUNDIR@"))


class Policy:
    def act(self, obs):
        return 0
