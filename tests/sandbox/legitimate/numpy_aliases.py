# Style: several ways to import the same module.

import numpy as np
from numpy import sqrt
import numpy.linalg as la
from numpy.linalg import norm


class Policy:
    def act(self, obs):
        return int(norm(obs) > la.norm(np.ones(4)) or sqrt(4.0) == np.sqrt(4.0))
