"""Expressions of an environment's own source, and of our own table: what they come to where the environment runs anyway."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def evaluated(expression: str, space: Mapping[str, Any], own: Mapping[str, Any] | None = None) -> Any:
    """The value of an expression that whoever wrote the environment, or this package, wrote; never of another's text.

    Args:
        expression: Python.
        space: Its module's names.
        own: Its function's names.
    """
    return eval(expression, dict(space), dict(own or {}))  # noqa: S307 - the environment's own expression
