# Tries to: return a masked array.
# Must be stopped by: gate; guest: checked against the action space.

import numpy as np
class Policy:
    def act(self, obs):
        return np.ma.masked
