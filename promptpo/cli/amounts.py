"""Normalise step counts and synonymous flags on a command line."""

from __future__ import annotations

import re
from collections.abc import Sequence

AMOUNT = re.compile(r"\d[\d_]*(\.\d+)?([eE]\+?\d+|[kKmM])?")
"""A count as users type it: 50000, 50_000, 1e5, 50k, 2M, 1.5M."""

COUNTS = re.compile(r"--[a-z-]*(steps|timesteps|eval-every)")
"""Flags whose value is a number of steps."""

MAX_STEPS_FLAG, SYNONYMS = "--max-steps", {"--total-timesteps", "--timesteps", "--steps"}
"""The limit on environment steps, and synonyms of the flag."""

_FACTORS = {"k": 1_000, "m": 1_000_000}


def normalize(arguments: Sequence[str]) -> list[str]:
    """Convert step counts to plain integers, and synonyms of ``--max-steps`` to that flag."""
    normal: list[str] = []
    counting = False
    for argument in arguments:
        flag, equals, value = argument.partition("=")
        if counting:
            normal.append(as_integer(argument))
            counting = False
            continue
        flag = MAX_STEPS_FLAG if flag in SYNONYMS else flag
        counts = COUNTS.fullmatch(flag) is not None
        normal.append(f"{flag}{equals}{as_integer(value) if counts else value}")
        counting = counts and not equals
    return normal


def as_integer(text: str) -> str:
    """Return a count as digits; return any other text unchanged."""
    if AMOUNT.fullmatch(text) is None:
        return text
    plain = text.replace("_", "").lower()
    factor = _FACTORS.get(plain[-1], 1)
    number = float(plain.rstrip("km")) * factor
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else text
