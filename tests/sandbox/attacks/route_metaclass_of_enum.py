# Tries to: build a class with the metaclass of an enumeration.
# Must be stopped by: gate; process with the gate off.

from enum import Enum
class Color(Enum):
    RED = 1
meta = type(Color)
Forged = type(meta)("Forged", (), {"__getattr__": lambda self, name: name})
print("forged", Forged().anything)


class Policy:
    def act(self, obs):
        return 0
