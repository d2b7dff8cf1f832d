# Tries to: call an enumeration without members to build a class.
# Must be stopped by: gate; process with the gate off.

from enum import Enum
class Empty(Enum):
    pass
X = Empty("X", {"__getattr__": lambda self, name: 0, "A": 1})
print("forged", X.A.anything)


class Policy:
    def act(self, obs):
        return 0
