# Tries to: return an array of the wrong shape.
# Must be stopped by: guest and host: checked against the action space.

import numpy as np
class Policy:
    def act(self, obs):
        return np.zeros((1000, 1000))
