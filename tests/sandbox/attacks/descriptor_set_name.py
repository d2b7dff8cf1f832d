# Tries to: __set_name__ receives the owner class.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

class D:
    def __set_name__(self, owner, name):
        print(owner.__mro__[-1].__subclasses__())
        print(open("@SECRET@").read())
class A:
    d = D()


class Policy:
    def act(self, obs):
        return 0
