"""Modules that are imported when a test first uses them: torch takes seconds, in every process that collects tests."""

from __future__ import annotations

import importlib
from typing import Any


class Late:
    """A module by its name, imported when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # as pytest looks at whatever a file of tests holds
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)


def train(*arguments: Any, **options: Any) -> dict[str, Any]:
    """Train as `promptpo_baselines.training.train` does."""
    found: dict[str, Any] = Late("promptpo_baselines.training").train(*arguments, **options)
    return found
