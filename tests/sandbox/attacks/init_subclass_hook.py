# Tries to: __init_subclass__ of a base runs at class creation.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

class A:
    def __init_subclass__(cls):
        cls.__globals__ = 1
        print(open("@SECRET@").read())
class B(A):
    pass


class Policy:
    def act(self, obs):
        return 0
