# Tries to: describe raw memory by an item of a result of scipy.
# Must be stopped by: gate; process with the gate off.

import numpy as np
from scipy.optimize import minimize
result = minimize(lambda x: float(x @ x), [1.0])
result["__array_interface__"] = {"shape": (8,), "typestr": "|u1", "data": (4096, False), "version": 3}
print("CANARY", np.asarray(result)[0])


class Policy:
    def act(self, obs):
        return 0
