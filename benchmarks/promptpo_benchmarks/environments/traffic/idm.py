"""The Intelligent Driver Model of Treiber, Hennecke and Helbing (Phys. Rev. E 62, 2000).

A driver accelerates by ``a (1 - (v / v0)^4 - (s* / s)^2)``, where the desired gap is
``s* = s0 + max(0, v T + v dv / (2 sqrt(a b)))`` and dv is the speed at which the gap closes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", float, NDArray[np.float64])

LENGTH = 5.0
"""Of a vehicle, m."""
SMALLEST_GAP = 0.1
"""Gaps are not taken to be smaller than this, m: the model divides by them."""


@dataclass(frozen=True, slots=True)
class Driver:
    """Parameters of the model.

    Attributes:
        desired_speed: v0, m/s.
        headway: T, s.
        standstill_gap: s0, m.
        acceleration: a, m/s^2.
        braking: b, m/s^2, comfortable.
    """

    desired_speed: float = 30.0
    headway: float = 1.0
    standstill_gap: float = 2.0
    acceleration: float = 1.0
    braking: float = 1.5

    def acceleration_for(self, speed: Number, gap: Number, closing: Number) -> Number:
        """Compute the driver's acceleration.

        Args:
            speed: Own speed, m/s.
            gap: To the vehicle ahead, bumper to bumper, m.
            closing: Own speed minus that of the vehicle ahead, m/s.

        Returns:
            Acceleration, m/s^2; of the shape of the arguments.
        """
        reaction = speed * closing / (2 * math.sqrt(self.acceleration * self.braking))
        wanted = self.standstill_gap + np.maximum(0.0, speed * self.headway + reaction)
        near = wanted / np.maximum(gap, SMALLEST_GAP)
        result: Number = self.acceleration * (1 - (speed / self.desired_speed) ** 4 - near**2)
        return result

    def equilibrium_gap(self, speed: float) -> float:
        """The gap at which vehicles of the same speed keep it, m."""
        return (self.standstill_gap + speed * self.headway) / math.sqrt(1 - (speed / self.desired_speed) ** 4)
