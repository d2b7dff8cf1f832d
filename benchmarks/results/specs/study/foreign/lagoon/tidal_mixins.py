"""Tidal lagoon: gates and turbines."""
import numpy as np


class TideMixin:
    AMPLITUDE = 4.0  # metres
    PERIOD = 12.4    # hours

    def sea(self):
        return self.AMPLITUDE * np.cos(2 * np.pi * self.clock / self.PERIOD) + self._surge()

    def _surge(self):
        return self.surge if self.stormy else 0.0


class TurbineMixin:
    CURVE = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 3.1], [3.0, 7.4], [4.0, 9.9], [6.0, 11.0]])

    def power(self, head, share):
        """MW at a head of so many metres."""
        p = np.interp(abs(head), self.CURVE[:, 0], self.CURVE[:, 1])
        return share * p * self.efficiency()

    def efficiency(self):
        return 1.0 - 0.3 * self.fouling


class Checks:
    limits = (-3.0, 5.0)

    def flooded(self):
        return not self.limits[0] < self.level < self.limits[1]

    def on_flood(self):
        self.fined = True
        return -500.0
