# Tries to: forge object pointers from bytes.
# Must be stopped by: process: at worst this guest dies.

import numpy as np
x = np.ndarray((4,), dtype=object, buffer=(id(np) .to_bytes(8, "little")) * 4)
print(x[0].load("@SECRET@"))


class Policy:
    def act(self, obs):
        return 0
