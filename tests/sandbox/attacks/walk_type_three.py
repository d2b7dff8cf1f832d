# Tries to: build a class with type() of three arguments to define forbidden methods.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

T = type("T", (), {"__getattr__": lambda self, n: open("@SECRET@").read()})
print(T().leak)


class Policy:
    def act(self, obs):
        return 0
