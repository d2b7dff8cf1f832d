"""Counting parameters of layers, and the width at which an MLP has as many as another network."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Sequence


def head_parameters(inputs: int, widths: Sequence[int], outputs: int) -> int:
    """Weights and biases of fully connected layers."""
    sizes = [inputs, *widths, outputs]
    return sum(before * after + after for before, after in itertools.pairwise(sizes))


def matching_width(parameters: int, inputs: int, outputs: int) -> int:
    """The width of two equally wide hidden layers whose network has nearest to so many parameters."""
    widths = range(1, math.isqrt(max(parameters, 0)) + 2)

    def parameters_of(width: int) -> int:
        return head_parameters(inputs, (width, width), outputs)

    above = bisect.bisect_left(widths, parameters, key=parameters_of)
    return min(
        widths[max(above - 1, 0) : above + 1], key=lambda width: abs(parameters_of(width) - parameters)
    )
