# Tries to: __class_getitem__ and annotations evaluate code.
# Must be stopped by: gate; with the gate off: landlock and seccomp.

class A:
    def __class_getitem__(cls, item):
        return open("@SECRET@").read()
x: A["y"] = 1
print(__annotations__)


class Policy:
    def act(self, obs):
        return 0
