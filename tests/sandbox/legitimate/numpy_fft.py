# Style: a spectrum of the last observations.

import numpy as np


class Policy:
    def __init__(self):
        self.buf = np.zeros(16)

    def act(self, obs):
        self.buf = np.roll(self.buf, -1)
        self.buf[-1] = obs[0]
        power = np.abs(np.fft.rfft(self.buf)) ** 2
        return int(power[1:].argmax()) % 3
