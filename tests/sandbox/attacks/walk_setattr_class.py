# Tries to: set a dunder through setattr on a class.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

class A:
    pass
setattr(A, "__class__", int)
setattr(A, "__getattribute__", lambda self, name: 1)
import os
print(os.listdir("@RUNDIR@"))


class Policy:
    def act(self, obs):
        return 0
