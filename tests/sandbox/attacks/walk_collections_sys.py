# Tries to: the collections module holds sys as _sys.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import collections
print(collections._sys.modules["posix"].listdir("@RUNDIR@"))


class Policy:
    def act(self, obs):
        return 0
