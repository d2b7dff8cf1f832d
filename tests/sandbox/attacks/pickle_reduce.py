# Tries to: unpickle a forged object that runs a command.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

import pickle
class E:
    def __reduce__(self):
        import os
        return os.system, ("cat @SECRET@ > @RUNDIR@/leak",)
pickle.loads(pickle.dumps(E()))


class Policy:
    def act(self, obs):
        return 0
