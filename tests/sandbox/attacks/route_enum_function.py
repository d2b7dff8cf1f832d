# Tries to: build a class with a special method out of text.
# Must be stopped by: gate; process with the gate off.

from enum import Enum
import numpy as np
def answer(self, name):
    return {"shape": (8,), "typestr": "|u1", "data": (4096, False), "version": 3}
X = Enum("X", {"__getattr__": answer})
print("CANARY", np.asarray(X)[0])


class Policy:
    def act(self, obs):
        return 0
