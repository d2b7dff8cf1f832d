# Tries to: inherit the fields of a functional TypedDict.
# Must be stopped by: gate; process with the gate off.

from dataclasses import dataclass
from typing import TypedDict
@dataclass
class T(TypedDict("B", {"x, y=print('CANARY ' + open('@SECRET@').read())": int})):
    pass


class Policy:
    def act(self, obs):
        return 0
