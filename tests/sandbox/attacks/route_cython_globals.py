# Tries to: reach builtins through a Cython function of numpy.
# Must be stopped by: gate; process with the gate off.

import numpy as np
b = np.random.Generator.normal.func_globals["__builtins__"]
b = b if isinstance(b, dict) else vars(b)
print("CANARY " + b["open"]("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
