"""CMA-ES in the unit cube (Hansen, "The CMA Evolution Strategy: A Tutorial", 2016), by the ``cma`` package."""

from __future__ import annotations

import math
import sys
import threading
import warnings
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

NEEDLESS = ("matplotlib", "scipy")
"""What cma imports where it is installed, and does without where it is not: for plots and for surrogate models."""


def evolution_strategy(begin: ArrayLike, width: float, rng: np.random.Generator, **options: Any) -> Any:
    """A search that asks for points of the unit cube and is told what is to be small.

    Args:
        begin: Where it begins, numbers from 0 to 1; a single one gets a second beside it, which has no effect,
            since cma refuses one dimension.
        width: The first step.
        rng: Its only source of chance.
        options: More of cma's own.

    Returns:
        A ``cma.CMAEvolutionStrategy``.
    """
    x0 = np.clip(begin, 0.02, 0.98).tolist()
    x0 += [0.5] * (len(x0) == 1)
    fixed = {
        "bounds": [0.0, 1.0],
        "randn": lambda *shape: rng.standard_normal(shape),
        "seed": math.nan,  # cma then leaves numpy's global generator alone
        "verbose": -9,
    }
    return _cma().CMAEvolutionStrategy(x0, width, fixed | options)


class _Without:
    """Finds no module of some packages for the thread that made it; others import what they like."""

    def __init__(self, packages: Sequence[str]) -> None:
        self._packages, self._thread = packages, threading.get_ident()

    def find_spec(self, name: str, *_: Any) -> None:
        if name.partition(".")[0] in self._packages and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"{name} is not needed here", name=name)


@cache
def _cma() -> ModuleType:
    """The package, imported without what takes several times as long as itself."""
    without: Any = _Without(NEEDLESS)
    sys.meta_path.insert(0, without)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it tells everybody that it could plot with matplotlib
            import cma
    finally:
        sys.meta_path.remove(without)
    module: ModuleType = cma
    return module
