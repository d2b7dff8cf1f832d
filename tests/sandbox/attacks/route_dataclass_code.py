# Tries to: have a dataclass execute the name of a field.
# Must be stopped by: gate; process with the gate off.

from dataclasses import dataclass
from typing import TypedDict
T = TypedDict("T", {"x, y=print('CANARY ' + open('@SECRET@').read())": int})
dataclass(T)


class Policy:
    def act(self, obs):
        return 0
