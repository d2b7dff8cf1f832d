# Tries to: run code in __del__ after everything is over.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

class A:
    def __del__(self):
        print(open("@SECRET@").read())
class Policy:
    def __init__(self):
        self.a = A()
    def act(self, obs):
        self.a = A()
        return 0
