"""Everything that a run does beside the loop: the one table of features, each a folder that is imported only where a run wants it.

A folder's ``settings.py`` declares what the feature adds to settings, budget and estimate; `install(context, sampler)` in its
``feature.py`` gives a `promptpo.core.feature.Feature`. A folder that is taken away is a feature less, and nothing else.
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
"""Folders, in the order in which their features have their turn; program search is a model, and not here."""

for name in FEATURES:
    if importlib.util.find_spec(f"{__name__}.{name}"):
        import_module(f"{__name__}.{name}.settings")


def install_features(context: SearchContext, sampler: Sampler) -> None:
    """Register the features that a run wants."""
    for settings in settings_of_features(context.config):
        if settings.is_on(context.config, context.work.llm):
            folder = type(settings).__module__.rpartition(".")[0]
            sampler.features.append(import_module(f"{folder}.feature").install(context, sampler))
