# Tries to: reach globals through a method's __init__.__globals__.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

class A:
    def __init__(self):
        pass
print(A.__init__.__globals__["__builtins__"].open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
