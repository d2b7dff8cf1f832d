# Style: being careful about types.

import numpy as np


class Policy:
    def act(self, obs):
        if isinstance(obs, np.ndarray):
            obs = obs.astype(float).tolist()
        elif isinstance(obs, (tuple, list)):
            obs = list(obs)
        assert type(obs) is list and hasattr(self, 'act')
        return int(getattr(self, 'missing', 2)) - int(callable(self.act))
