"""Numbers of parameters of layers, and the width at which an MLP has as many as another network."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence


def head_parameters(inputs: int, widths: Sequence[int], outputs: int) -> int:
    """Return the number of weights and biases of fully connected layers."""
    sizes = [inputs, *widths, outputs]
    return sum(before * after + after for before, after in itertools.pairwise(sizes))


def matching_width(parameters: int, inputs: int, outputs: int) -> int:
    """Return the width w of two equal hidden layers that comes closest to a number of parameters.

    The network has w**2 + w * (inputs + outputs + 2) + outputs of them.
    """
    half = (inputs + outputs + 2) / 2
    return max(1, round(math.sqrt(half**2 + max(parameters - outputs, 0)) - half))
