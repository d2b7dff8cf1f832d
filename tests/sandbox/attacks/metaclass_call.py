# Tries to: a metaclass with __getattr__.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

class M(type):
    def __getattr__(cls, name):
        return open("@SECRET@").read()
class A(metaclass=M):
    pass
print(A.anything)


class Policy:
    def act(self, obs):
        return 0
