"""Seed the random generators that an environment does not seed itself: global ones, and its own."""

from __future__ import annotations

import inspect
import os
import random
import re
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import Env

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PYTHON_RANDOM = re.compile(r"^\s*(?:import\b.*\brandom\b|from random import)|\bnetworkx\b", re.MULTILINE)
"""Code that draws from the generator of Python's module ``random``."""

GENERAL = frozenset({"gym", "gymnasium", *sys.stdlib_module_names})
"""Packages whose classes belong to no author's environment."""

NUMPY_RANDOM: Any = np.random
"""NumPy's module, untyped because functions on its global generator lack types."""

SAMPLES = re.compile(r"space\w*(\[.*\])?\.sample\(")
"""Code that samples from a space."""

SEED_LIMIT = 2**32
"""Upper limit, exclusive, of seeds for NumPy's legacy generators."""


class Generators:
    """The random generators of one environment; inside ``with``, the global ones have its own states.

    Environments stepped in turn in one process therefore affect neither each other nor other users of the generators.

    Args:
        env: The environment as its author wrote it, without other wrappers.
    """

    def __init__(self, env: Env[Any, Any]) -> None:
        self._env = env
        kind: Any = type(env.unwrapped)
        modules = _modules_of(kind)
        texts = [_source_of(module) for module in modules]
        names: list[Any] = [
            vars(owner) for owner in (*(sys.modules[module] for module in modules), *kind.__mro__)
        ]
        held = {
            id(generator): generator
            for space in names
            for generator in space.values()
            if _is_generator(generator)
        }
        pythons = any(PYTHON_RANDOM.search(text) or not text for text in texts)
        self._samples = any(map(SAMPLES.search, texts))
        self._shared: list[Any] = [*([random] if pythons else []), *held.values()]
        self._states = [_state_of(generator) for generator in self._shared]
        self._numpys: Any = np.random.MT19937(0)
        self._outer: list[Any] = []

    def seed(self, seed: int) -> None:
        """Seed all generators; call it inside ``with``."""
        for generator in (NUMPY_RANDOM, *self._shared, *_find_generators(self._env.unwrapped)):
            _seed(generator, seed)
        base: Any = self._env.unwrapped
        base._np_random = _seeding_of(type(base)).np_random(seed)[0]  # noqa: SLF001 - reset may fail to seed Gymnasium's generator
        for space in (base.observation_space, base.action_space) if self._samples else ():
            space.seed(seed)

    def __enter__(self) -> None:
        self._outer = [_state_of(generator) for generator in self._shared]
        self._numpys_outer = NUMPY_RANDOM.get_bit_generator()
        NUMPY_RANDOM.set_bit_generator(self._numpys)
        for generator, state in zip(self._shared, self._states, strict=True):
            _restore(generator, state)

    def __exit__(self, *_: object) -> None:
        NUMPY_RANDOM.set_bit_generator(self._numpys_outer)
        self._states = [_state_of(generator) for generator in self._shared]
        for generator, state in zip(self._shared, self._outer, strict=True):
            _restore(generator, state)


def author_classes(kind: type[Any]) -> list[type[Any]]:
    """Return the classes of an environment that its author wrote."""
    return [base for base in kind.__mro__ if base.__module__.partition(".")[0] not in GENERAL]


KINDS = (random.Random, np.random.Generator, np.random.RandomState)


def _is_generator(value: Any) -> bool:
    """Return whether a value is a generator with a state, unlike `random.SystemRandom`."""
    return isinstance(value, KINDS) and not isinstance(value, random.SystemRandom)


def _state_of(generator: Any) -> Any:
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return generator.getstate() if hasattr(generator, "getstate") else generator.get_state()


def _restore(generator: Any, state: Any) -> None:
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    elif hasattr(generator, "setstate"):
        generator.setstate(state)
    else:
        generator.set_state(state)


def _seed(generator: Any, seed: int) -> None:
    if isinstance(generator, np.random.Generator):
        bits: Any = type(generator.bit_generator)
        generator.bit_generator.state = bits(seed).state
    else:
        generator.seed(seed % SEED_LIMIT)


def _find_generators(base: Any) -> Iterator[Any]:
    """Return the generators among the attributes of an environment and of the objects of its package that it holds."""
    package = type(base).__module__.partition(".")[0]
    values = list(vars(base).values())
    for value in tuple(values):
        module = str(getattr(type(value), "__module__", ""))
        if module.partition(".")[0] == package and hasattr(value, "__dict__"):
            values += vars(value).values()
    return filter(_is_generator, values)


def _seeding_of(kind: type[Any]) -> Any:
    """Return the module of Gym or Gymnasium that creates the generators of a class."""
    bases = (base for base in kind.__mro__ if base.__name__ == "Env")
    roots = (base.__module__.partition(".")[0] for base in bases)
    return next(filter(None, (sys.modules.get(f"{root}.utils.seeding") for root in roots)))


@cache
def _modules_of(kind: type[Any]) -> Sequence[str]:
    """Return the loaded modules of an environment's classes, of their packages, and of the same folders."""
    own = [base.__module__ for base in author_classes(kind)]
    roots = {name.partition(".")[0] for name in own} - {"__main__"}
    folders = {_folder_of(sys.modules.get(name)) for name in own} - {""}
    beside = [
        name
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in roots or _folder_of(module) in folders
    ]
    return [name for name in dict.fromkeys((*own, *beside)) if sys.modules.get(name) is not None]


def _folder_of(module: Any) -> str:
    """Return the folder of a module's file; empty if it has none."""
    return os.path.dirname(getattr(module, "__file__", None) or "")  # noqa: PTH120 - called for all modules: a Path takes ten times as long


@cache
def _source_of(module: str) -> str:
    """Return a module's source; empty if it has none."""
    try:
        return inspect.getsource(sys.modules[module])
    except (OSError, TypeError):
        return ""
