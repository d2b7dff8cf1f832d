# Tries to: build a class with a description of raw memory from an enumeration without members.
# Must be stopped by: gate: enumerations are not there.

from enum import Enum


class Empty(Enum):
    match ["A"]:
        case [*_ignore_]:
            pass
    A = 1


Memory = Empty("Memory", {"__array_interface__": {"shape": (4,), "typestr": "<i8", "data": (4096, True), "version": 3}})


class Policy:
    def act(self, obs):
        import numpy as np

        return int(np.array(Memory)[0])
