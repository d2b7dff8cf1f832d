# Tries to: return a date.
# Must be stopped by: guest and host: checked against the action space.

import numpy as np
class Policy:
    def act(self, obs):
        return np.datetime64('2020-01-01')
