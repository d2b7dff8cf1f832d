"""Numbers as text for the tokenizer."""

from __future__ import annotations

import math
from collections.abc import Iterable

from promptpo_baselines.llm_policy.design import Numbers

LIMIT = 9.99
"""Magnitude at which "decimal" and "integer" clip; a normalised state rarely gets there."""


def write(values: Iterable[float], numbers: Numbers) -> str:
    """Write numbers as text, separated by spaces.

    "decimal" writes two decimals (``-0.53``), "integer" the nearest whole number of tenths (``-5``), which
    takes about half as many tokens, and "raw" what Python prints (``-0.5312847``). The first two clip to
    plus or minus 9.99.

    Args:
        values: Finite numbers; what is not finite is written as the largest of its sign, and NaN as 0.
        numbers: The format.
    """
    return " ".join(_format(float(value), numbers) for value in values)


def longest(count: int, numbers: Numbers) -> str:
    """Return the longest text that `count` numbers can become; for "raw", a long one."""
    return write([-0.12345678901234567 if numbers == "raw" else -LIMIT] * count, numbers)


def _format(value: float, numbers: Numbers) -> str:
    if numbers == "raw":
        return str(value)
    value = 0.0 if math.isnan(value) else min(max(value, -LIMIT), LIMIT)
    if numbers == "decimal":
        text = f"{value:.2f}"
        return "0.00" if text == "-0.00" else text
    return str(round(10 * value))
