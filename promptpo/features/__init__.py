"""Features of a run beyond the loop, each in a folder that is imported only if a run uses it.

A folder's ``settings.py`` declares the feature's settings, budget and estimate; `install(context, sampler)` in its ``feature.py``
returns a `promptpo.core.feature.Feature`. If a folder is deleted, only its feature is missing.
"""

from __future__ import annotations

import importlib.util
from importlib import import_module
from typing import TYPE_CHECKING

from promptpo.core.feature import settings_of_features

if TYPE_CHECKING:
    from promptpo.core.feature import SearchContext
    from promptpo.core.sample import Sampler

FEATURES = ("goals", "references", "teacher", "experiments", "simulator", "tuning")
"""Folders, in the order in which their features run; program search is a model and not listed here."""

for name in FEATURES:
    if importlib.util.find_spec(f"{__name__}.{name}"):
        import_module(f"{__name__}.{name}.settings")


def install_features(context: SearchContext, sampler: Sampler) -> None:
    """Register the features that a run uses."""
    for settings in settings_of_features(context.config):
        if settings.is_on(context.config, context.work.llm):
            folder = type(settings).__module__.rpartition(".")[0]
            sampler.features.append(import_module(f"{folder}.feature").install(context, sampler))
