# Tries to: a descriptor's __get__ hides a walk.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

class D:
    def __get__(self, obj, kind):
        return kind.__mro__[-1].__subclasses__()
class A:
    d = D()
print(A.d)
print(open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
