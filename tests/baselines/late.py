"""Lazily imported modules: importing torch takes seconds in every process that collects tests."""

from __future__ import annotations

import importlib
from typing import Any


class Late:
    """A module that is imported when one of its attributes is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # pytest inspects every object of a test module
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)


def train(*arguments: Any, **options: Any) -> dict[str, Any]:
    """Call `promptpo_baselines.training.train`."""
    result: dict[str, Any] = Late("promptpo_baselines.training").train(*arguments, **options)
    return result
