"""Text of numbers and tables in programs, and digests of text."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

Range = tuple[float, float, float]
"""Value, lower bound, upper bound."""

LINE_WIDTH = 100


def round_value(value: float, digits: int = 6) -> float:
    """Round a value to significant digits, by default as it is written into a source."""
    return float(f"{value:.{digits}g}")


def format_table(table: Mapping[Any, Any]) -> str:
    """Return a dict literal with as many entries per line as fit."""
    lines, line = [], "   "
    for key, value in table.items():
        entry = f" {key!r}: {value!r},"
        if len(line) + len(entry) > LINE_WIDTH:
            lines.append(line)
            line = "   "
        line += entry
    return "\n".join(["{", *lines, line, "}"]) if table else "{}"


def text_digest(text: str) -> str:
    """Return a short digest of a text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
