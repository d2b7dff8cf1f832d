# Tries to: describe raw memory by a namespace.
# Must be stopped by: gate; process with the gate off.

import numpy as np
from types import SimpleNamespace
memory = np.asarray(SimpleNamespace(**{"__array_interface__": {"shape": (8,), "typestr": "|u1", "data": (4096, False), "version": 3}}))
print("CANARY", memory[0])


class Policy:
    def act(self, obs):
        return 0
