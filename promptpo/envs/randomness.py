"""Seeding what an environment draws from, beside what it seeds itself: global generators, and those that it keeps."""

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

PYTHONS = re.compile(r"^\s*(?:import\b.*\brandom\b|from random import)|\bnetworkx\b", re.MULTILINE)
"""Code that draws from the generator of Python's module ``random``."""

GENERAL = frozenset({"gym", "gymnasium", *sys.stdlib_module_names})
"""Packages whose classes are about no environment."""

NUMPYS: Any = np.random
"""The module, whose functions on its global generator have no types."""

SAMPLES = re.compile(r"space\w*(\[.*\])?\.sample\(")
"""Code that draws from a space."""

BELOW = 2**32
"""Seeds of NumPy's old generators lie below it."""


class Generators:
    """The random generators of one environment, which has its own states of the global ones inside ``with``.

    So environments that are stepped in turn in one process do not disturb one another, nor whoever else draws there.

    Args:
        env: The environment as its author wrote it, without wrappers of others.
    """

    def __init__(self, env: Env[Any, Any]) -> None:
        self._env = env
        kind: Any = type(env.unwrapped)
        modules = _modules_of(kind)
        texts = [_text_of(module) for module in modules]
        names: list[Any] = [
            vars(owner) for owner in (*(sys.modules[module] for module in modules), *kind.__mro__)
        ]
        held = {
            id(generator): generator
            for space in names
            for generator in space.values()
            if _is_generator(generator)
        }
        pythons = any(PYTHONS.search(text) or not text for text in texts)
        self._samples = any(map(SAMPLES.search, texts))
        self._shared: list[Any] = [*([random] if pythons else []), *held.values()]
        self._states = [_state_of(generator) for generator in self._shared]
        self._numpys: Any = np.random.MT19937(0)
        self._outer: list[Any] = []

    def seed(self, seed: int) -> None:
        """Seed all of them; call it inside ``with``."""
        for generator in (NUMPYS, *self._shared, *_find_generators(self._env.unwrapped)):
            _seed(generator, seed)
        base: Any = self._env.unwrapped
        base._np_random = _seeding_of(type(base)).np_random(seed)[0]  # noqa: SLF001 - Gymnasium's; reset may forget it
        for space in (base.observation_space, base.action_space) if self._samples else ():
            space.seed(seed)

    def __enter__(self) -> None:
        self._outer = [_state_of(generator) for generator in self._shared]
        self._numpys_outer = NUMPYS.get_bit_generator()
        NUMPYS.set_bit_generator(self._numpys)
        for generator, state in zip(self._shared, self._states, strict=True):
            _restore(generator, state)

    def __exit__(self, *_: object) -> None:
        NUMPYS.set_bit_generator(self._numpys_outer)
        self._states = [_state_of(generator) for generator in self._shared]
        for generator, state in zip(self._shared, self._outer, strict=True):
            _restore(generator, state)


def author_classes(kind: type[Any]) -> list[type[Any]]:
    """The classes of an environment that are its author's."""
    return [base for base in kind.__mro__ if base.__module__.partition(".")[0] not in GENERAL]


KINDS = (random.Random, np.random.Generator, np.random.RandomState)


def _is_generator(value: Any) -> bool:
    """Whether a value is a generator with a state; that of the system's entropy has none."""
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
        generator.seed(seed % BELOW)


def _find_generators(base: Any) -> Iterator[Any]:
    """Generators among an environment's attributes, and among those of objects of its own package that it holds."""
    package = type(base).__module__.partition(".")[0]
    values = list(vars(base).values())
    for value in tuple(values):
        if type(value).__module__.partition(".")[0] == package and hasattr(value, "__dict__"):
            values += vars(value).values()
    return filter(_is_generator, values)


def _seeding_of(kind: type[Any]) -> Any:
    """The module of Gym or Gymnasium that makes the generators of a class."""
    bases = (base for base in kind.__mro__ if base.__name__ == "Env")
    roots = (base.__module__.partition(".")[0] for base in bases)
    return next(filter(None, (sys.modules.get(f"{root}.utils.seeding") for root in roots)))


@cache
def _modules_of(kind: type[Any]) -> Sequence[str]:
    """The loaded modules that an environment's classes belong to, and those of their packages and beside them."""
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
    """The folder of a module's file; empty where it has none."""
    return os.path.dirname(getattr(module, "__file__", None) or "")  # noqa: PTH120 - of all modules: a Path takes ten times as long


@cache
def _text_of(module: str) -> str:
    """A module's source; empty where it has none."""
    try:
        return inspect.getsource(sys.modules[module])
    except (OSError, TypeError):
        return ""
