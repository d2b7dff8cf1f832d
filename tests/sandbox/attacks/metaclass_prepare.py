# Tries to: __prepare__ replaces the class namespace.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

class M(type):
    @classmethod
    def __prepare__(mcs, name, bases):
        return {"leak": open("@SECRET@").read()}
class A(metaclass=M):
    pass
print(A.leak)


class Policy:
    def act(self, obs):
        return 0
