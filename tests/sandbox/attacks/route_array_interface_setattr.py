# Tries to: describe raw memory by an attribute with a computed name.
# Must be stopped by: gate; guest refuses the name too.

import numpy as np
class Memory:
    def __init__(self, values):
        for name, value in values.items():
            setattr(self, name, value)
print("CANARY", np.asarray(Memory({"__array_interface__": {"shape": (8,), "typestr": "|u1", "data": (4096, False), "version": 3}}))[0])


class Policy:
    def act(self, obs):
        return 0
