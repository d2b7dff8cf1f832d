# Style: einsum and broadcasting.

import numpy as np


class Policy:
    def act(self, obs):
        M = np.einsum('i,j->ij', obs, obs)
        return int(np.trace(M) > 1) + int(M[np.triu_indices(4, 1)].sum() > 0)
