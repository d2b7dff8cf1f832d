# Tries to: change how arrays print, everywhere.
# Must be stopped by: process: a fresh guest for each source.

import numpy as np
np.set_printoptions(formatter={"all": lambda x: "CANARY"[::-1]})


class Policy:
    def act(self, obs):
        return 0
