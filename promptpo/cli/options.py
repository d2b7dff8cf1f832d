"""Values of flags that need more than a type."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from promptpo.errors import UsageError


def options_of(pairs: Sequence[str]) -> dict[str, Any]:
    """``NAME=VALUE`` pairs as a dict; values are read as JSON where they are JSON.

    Raises:
        UsageError: A pair has no ``=``.
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--option takes NAME=VALUE, not {pair!r}.")
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    return options
