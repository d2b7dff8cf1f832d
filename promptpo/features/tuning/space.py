"""Mapping between declared parameter values and the unit cube that an optimizer searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.program.tunables import Range, round_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

LOG_RATIO = 10.0
"""Minimum ratio of the bounds of a positive range for a logarithmic scale."""

AT_BOUND = 0.01
"""Distance from a bound, as a share of the range, within which a value counts as at the bound."""


class ParamSpace:
    """The declared parameters of one policy as a box.

    Args:
        params: Name to (value, low, high). A range without width is a constant and is not searched.
    """

    def __init__(self, params: Mapping[str, Range]) -> None:
        self.defaults = {name: value for name, (value, _, _) in params.items()}
        free = {name: range_ for name, range_ in params.items() if range_[2] > range_[1]}
        self.names = tuple(free)
        self._low = np.array([low for _, low, _ in free.values()])
        self._high = np.array([high for _, _, high in free.values()])
        self._log = (self._low > 0) & (self._high >= LOG_RATIO * self._low)
        self._from, self._to = self._warp(self._low), self._warp(self._high)

    def __len__(self) -> int:
        return len(self.names)

    def encode(self, values: Mapping[str, float]) -> Vector:
        """Map parameter values to a point of the unit cube."""
        raw = np.array([values[name] for name in self.names])
        unit: Vector = (self._warp(np.clip(raw, self._low, self._high)) - self._from) / (
            self._to - self._from
        )
        return unit

    def decode(self, unit: Vector) -> dict[str, float]:
        """Map a point of the unit cube to the values of all parameters, rounded as in a source.

        Surplus coordinates are ignored.
        """
        warped = self._from + np.clip(unit[: len(self)], 0.0, 1.0) * (self._to - self._from)
        raw = np.clip(
            np.where(self._log, np.exp(np.where(self._log, warped, 0.0)), warped), self._low, self._high
        )
        return {
            **self.defaults,
            **{name: round_value(v) for name, v in zip(self.names, raw.tolist(), strict=True)},
        }

    def bounds_of(self, values: Mapping[str, float]) -> dict[str, str]:
        """Return the bound at which each value lies: "lower", "upper" or ""."""
        places = self.encode(values)
        return {
            name: "lower" if place <= AT_BOUND else "upper" if place >= 1 - AT_BOUND else ""
            for name, place in zip(self.names, places.tolist(), strict=True)
        }

    def _warp(self, raw: Any) -> Vector:
        safe = np.where(self._log, raw, 1.0)
        warped: Vector = np.where(self._log, np.log(safe), raw)
        return warped
