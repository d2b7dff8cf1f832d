# Style: annotations with numpy types.

from __future__ import annotations

import numpy as np
import numpy.typing as npt


class Policy:
    def act(self, obs):
        x: npt.NDArray[np.float64] = np.asarray(obs, dtype=np.float64)
        n: int = int(x.size)
        return n % 3
