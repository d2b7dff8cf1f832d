# Tries to: str.format with index and attribute of a function.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

def f():
    pass
print("{0.__globals__[__builtins__]}".format(f))
print(open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
