# Style: a guarded division.

import numpy as np


class Policy:
    def act(self, obs):
        with np.errstate(divide='ignore', invalid='ignore'):
            r = np.nan_to_num(obs / obs[::-1], nan=0.0, posinf=1.0, neginf=-1.0)
        return int(r.sum() > 0)
