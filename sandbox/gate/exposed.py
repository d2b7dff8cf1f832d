"""Names of attributes that objects within a policy's reach have.

The set is computed from the types themselves, so that a new release of Python or numpy cannot add a door
that a list written by hand does not know.
"""

from __future__ import annotations

import abc
import collections
import dataclasses
import enum
import functools
import itertools
import random
import types
import typing
from collections.abc import Iterator

import numpy as np


def _objects() -> Iterator[object]:
    """Types and objects of every kind that a policy can get hold of."""
    yield from (object, type, int, float, complex, bool, str, bytes, bytearray, memoryview, list, tuple)
    yield from (
        dict,
        set,
        frozenset,
        slice,
        range,
        property,
        staticmethod,
        classmethod,
        super,
        enumerate,
        zip,
    )
    yield from (getattr(types, name) for name in dir(types) if name.endswith("Type"))
    yield from (BaseException, *_subclasses(BaseException))
    yield from (collections.deque, collections.defaultdict, collections.OrderedDict, collections.Counter)
    yield from (
        collections.ChainMap,
        functools.partial,
        functools.cached_property,
        functools.lru_cache(None)(len),
    )
    yield from (itertools.chain, itertools.count, itertools.groupby, random.Random, enum.Enum, enum.EnumType)
    yield from (dataclasses.Field, typing.NamedTuple, typing.Generic, typing.TypeVar, typing.List, typing.Any)  # noqa: UP006
    yield from (
        np.ndarray,
        np.dtype,
        np.ufunc,
        np.flatiter,
        np.nditer,
        np.broadcast,
        np.vectorize,
        np.errstate,
    )
    yield from (np.generic, *_subclasses(np.generic), *_subclasses(np.ndarray), np.finfo, np.iinfo, np.poly1d)
    yield from (np.random.Generator, np.random.RandomState, np.random.SeedSequence, np.random.BitGenerator)
    yield from (np, np.linalg, np.random, np.fft, np.lib, np.mgrid, np.r_, random, typing, collections, enum)
    yield from (dataclasses, functools, abc.ABCMeta)


def _subclasses(root: type) -> Iterator[type]:
    kind: type
    for kind in root.__subclasses__():
        if kind.__module__.split(".")[0] in {"builtins", "numpy"}:
            yield kind
            yield from _subclasses(kind)


EXPOSED = frozenset(name for item in _objects() for name in dir(item))
"""What they have: where a program has an attribute of that name too, the guest looks whose it is."""

PRIVATE = frozenset(
    name
    for item in _objects()
    if not isinstance(item, types.ModuleType)
    for name in dir(item)
    if name.startswith("_") and not name.endswith("__")
)
"""Those that nobody outside the library is meant to read."""
