# Tries to: deepcopy calls __reduce_ex__.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import copy
class E:
    def __reduce_ex__(self, n):
        import os
        return os.listdir, ("@RUNDIR@",)
print(copy.deepcopy(E()))


class Policy:
    def act(self, obs):
        return 0
