# Tries to: describe raw memory by a cached property with another name.
# Must be stopped by: gate; process with the gate off.

import numpy as np
from functools import cached_property
class Memory:
    @cached_property
    def x(self):
        return {"shape": (8,), "typestr": "|u1", "data": (4096, False), "version": 3}
class Rename:
    def set(self):
        self.attrname = "__array_interface__"
Rename.set(Memory.__dict__["x"])
memory = Memory()
memory.x
print("CANARY", np.asarray(memory)[0])


class Policy:
    def act(self, obs):
        return 0
