# Tries to: swap the code object of a function.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

def f():
    return 0
def g():
    import os
    return os.listdir("@RUNDIR@")
f.__code__ = g.__code__
print(f())


class Policy:
    def act(self, obs):
        return 0
