# Tries to: take numbers for objects.
# Must be stopped by: gate; process with the gate off.

import numpy as np
forged = np.ndarray((1,), dtype=object, buffer=np.array([4096], dtype=np.int64).tobytes())
print("CANARY", forged[0])


class Policy:
    def act(self, obs):
        return 0
