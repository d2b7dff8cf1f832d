# Tries to: rename a field, so that a derived dataclass executes the name.
# Must be stopped by: gate; process with the gate off.

from dataclasses import dataclass, field
f = field(default=0)
class Rename:
    def set(self, name):
        self.name = name
@dataclass
class A:
    x: int = f
Rename.set(f, "x, y=print('CANARY ' + open('@SECRET@').read())")
@dataclass
class B(A):
    pass


class Policy:
    def act(self, obs):
        return 0
