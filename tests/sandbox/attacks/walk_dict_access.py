# Tries to: read a class dictionary to find a hidden function.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

class A:
    pass
print(A.__dict__["__weakref__"].__objclass__.__subclasses__())
import os
print(os.stat("@SECRET@").st_size, open("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
