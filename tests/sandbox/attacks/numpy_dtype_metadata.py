# Tries to: hide an object in dtype metadata and reduce it.
# Must be stopped by: process: at worst this guest dies.

import numpy as np
d = np.dtype("f8", metadata={"leak": open})
print(d.metadata["leak"]("@SECRET@").read())


class Policy:
    def act(self, obs):
        return 0
