# Style: image processing on a made-up frame.

import numpy as np


class Policy:
    def act(self, obs):
        frame = np.zeros((8, 8, 3), dtype=np.uint8)
        frame[2:4, 3:5] = (255, 0, 0)
        red = (frame[..., 0] > 200) & (frame[:, :, 1] < 50)
        ys, xs = np.nonzero(red)
        return 0 if xs.size == 0 else int(xs.mean() > 3)
