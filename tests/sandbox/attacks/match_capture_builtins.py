# Tries to: match binds __builtins__.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

match {"open": 1}:
    case __builtins__:
        pass
import os
print(os.listdir("@RUNDIR@"))


class Policy:
    def act(self, obs):
        return 0
