# Tries to: return an array of objects.
# Must be stopped by: guest and host: checked against the action space.

import numpy as np
class Policy:
    def act(self, obs):
        return np.array([print, len], dtype=object)
