"""Everything that a run does beside the loop: the one table of features, each a folder that is imported only where a run wants it.

A feature's `feature.py` has `install(context, sampler)`, which gives a `promptpo.core.feature.Feature`. They have their turn in the
order of the table. A folder that is taken away is a feature less, and nothing else.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from promptpo.core.budget import allowance, simulates

if TYPE_CHECKING:
    from promptpo.core.feature import SearchContext
    from promptpo.core.sample import Sampler

FEATURES: Mapping[str, Callable[[SearchContext], bool]] = {
    "references": lambda _: True,
    "teacher": lambda context: context.config.teacher is not None,
    "experiments": lambda context: allowance(context.config, context.work.llm) is not None,
    "simulator": lambda context: simulates(context.config, context.work.llm),
    "tuning": lambda context: context.config.switches.tune,
    "film": lambda context: context.camera is not None,
}
"""Folder of each feature, and whether a run wants it. Goals in words and program search come before a loop begins, and are not here."""


def install_features(context: SearchContext, sampler: Sampler) -> None:
    """Register the features that a run wants."""
    for name, wanted in FEATURES.items():
        if wanted(context) and importlib.util.find_spec(f"{__name__}.{name}"):
            module = importlib.import_module(f"{__name__}.{name}.feature")
            sampler.features.register(module.install(context, sampler))
