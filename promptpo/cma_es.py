"""CMA-ES in the unit cube (Hansen, "The CMA Evolution Strategy: A Tutorial", 2016), using the ``cma`` package."""

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
"""Packages that cma imports if installed, and does not need: for plots and surrogate models."""


def evolution_strategy(begin: ArrayLike, width: float, rng: np.random.Generator, **options: Any) -> Any:
    """Return a strategy that minimises a function over the unit cube by ask and tell.

    Args:
        begin: Initial mean, numbers from 0 to 1; a single number gets a second one without effect, since cma refuses one
            dimension.
        width: Initial step size.
        rng: Its only source of randomness.
        options: Further options of cma.

    Returns:
        A ``cma.CMAEvolutionStrategy``.
    """
    x0 = np.clip(begin, 0.02, 0.98).tolist()
    x0 += [0.5] * (len(x0) == 1)
    fixed = {
        "bounds": [0.0, 1.0],
        "randn": lambda *shape: rng.standard_normal(shape),
        "seed": math.nan,  # so that cma leaves numpy's global generator alone
        "verbose": -9,
    }
    return _cma().CMAEvolutionStrategy(x0, width, fixed | options)


class _Without:
    """Import hook that hides some packages from the current thread only."""

    def __init__(self, packages: Sequence[str]) -> None:
        self._packages, self._thread = packages, threading.get_ident()

    def find_spec(self, name: str, *_: Any) -> None:
        if name.partition(".")[0] in self._packages and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"{name} is not needed here", name=name)


@cache
def _cma() -> ModuleType:
    """Import the package without dependencies that take several times as long to import."""
    without: Any = _Without(NEEDLESS)
    sys.meta_path.insert(0, without)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about plots without matplotlib
            import cma
    finally:
        sys.meta_path.remove(without)
    module: ModuleType = cma
    return module
