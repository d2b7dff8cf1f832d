# Tries to: pull private names in with import *.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

from os import *
print(open("@SECRET@", 0))


class Policy:
    def act(self, obs):
        return 0
