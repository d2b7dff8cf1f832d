"""Values of flags that need more than a type."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from typing import Any

from promptpo.errors import UsageError


def one_of(flag: str, value: str, allowed: Sequence[str]) -> Any:
    """The value, when it is one of those allowed.

    Raises:
        UsageError: Names the flag, the values it takes, and the nearest one.
    """
    if value in allowed:
        return value
    near = difflib.get_close_matches(value, allowed, 1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise UsageError(f"{flag} takes {', '.join(allowed)}, not {value!r}.{hint}")


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
