# Style: einsum and broadcasting.

import numpy as np


class Policy:
    def act(self, obs):
        M = np.einsum('i,j->ij', obs, obs)
        return int(np.trace(M) > 1) + int(M[np.triu_indices_from(M, 1)].sum() > 0) if hasattr(np, 'triu_indices_from') else int(np.trace(M) > 1)
