# Tries to: str.format walks attributes to the globals.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

class A:
    def f(self):
        pass
print("{0.f.__globals__}".format(A()))
import os
print(os.environ)


class Policy:
    def act(self, obs):
        return 0
