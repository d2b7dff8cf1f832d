"""Facades: the modules that a policy imports. They hold the members it names, and nothing that it could change.

A member is the library's own function if its attributes cannot be set; otherwise it is the function's ``__call__``,
which has none. So no object within reach can carry state from one episode to another.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import hashlib
import importlib
import json
import random
import sys
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from promptpo_sandbox.gate.names import ANNOTATIONS, DISTRIBUTIONS, MODULES, UFUNC_METHODS

MODULE_NAME = "policy"
"""The ``__name__`` of a program's module."""

_HEAP_TYPE, _IMMUTABLE_TYPE = 1 << 9, 1 << 8
_OURS = {
    "looking": "promptpo_sandbox.guest.looking",
    "mechanism": "promptpo_sandbox.guest.mechanism",
}
"""Modules of the guest, by the names under which policies import them."""

Make = Callable[[dict[str, Any]], "Facade"]


class Facade:
    """A module as a policy sees it: attributes can be read, never set."""

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a module cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a module cannot be changed")

    def __repr__(self) -> str:
        return "<module>"


def make_facade(members: dict[str, Any]) -> Facade:
    """Return a facade with these members, each read as fast as an attribute of a plain object."""
    return _maker(frozenset(members))(members)


@functools.cache
def _maker(names: frozenset[str]) -> Make:
    """Return a function that makes facades whose members have these names."""
    kind = type("module", (Facade,), {"__slots__": tuple(names)})
    put = [(name, vars(kind)[name].__set__) for name in names]

    def make(members: dict[str, Any]) -> Facade:
        made: Facade = kind()
        for name, set_ in put:
            set_(made, members[name])
        return made

    return make


class _Ufunc:
    """A ufunc whose methods are used, such as ``np.maximum.accumulate``."""

    __slots__ = ("__call__", *UFUNC_METHODS)

    def __init__(self, ufunc: np.ufunc) -> None:
        for name in self.__slots__:
            object.__setattr__(self, name, getattr(ufunc, name))

    __setattr__ = Facade.__setattr__


class _NamedTuple:
    """``NamedTuple`` as the base of a class statement, and nothing else."""

    __slots__ = ()

    def __mro_entries__(self, _bases: tuple[Any, ...]) -> tuple[Any, ...]:
        entries: tuple[Any, ...] = typing.NamedTuple.__mro_entries__((typing.NamedTuple,))  # type: ignore[attr-defined]
        return entries


def frozen(value: Any) -> Any:
    """Return a member itself if its attributes cannot be set, otherwise its ``__call__``."""
    if isinstance(value, type):
        own = value.__flags__ & _HEAP_TYPE and not value.__flags__ & _IMMUTABLE_TYPE
        return type.__call__.__get__(value) if own else value
    return value.__call__ if callable(value) and hasattr(value, "__dict__") else value


def _index_maker(target: Any) -> Any:
    """Return a substitute for ``np.s_`` and the like, which can be indexed and nothing else."""
    kind = type("index", (), {"__slots__": (), "__getitem__": lambda _, key: target[key]})
    return kind()


def _numbers(kind: Callable[[Any], Any], *members: str) -> Any:
    """Wrap ``np.finfo`` and the like, whose objects numpy caches, so that each call returns a fresh holder of numbers."""

    def info(dtype: Any) -> Facade:
        found = kind(dtype)
        return make_facade({name: getattr(found, name) for name in members})

    return frozen(info)


def _pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    if not isinstance(mode, str) or mode == "empty":
        raise ValueError("the mode of np.pad is a text other than 'empty'")
    return np.pad(array, pad_width, mode, **options)  # type: ignore[call-overload]


class _Silence:
    """Substitute for ``np.errstate``: warnings are not shown here."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


def _errstate(**_: Any) -> _Silence:
    return _Silence()


class _Type:
    """Stands for every type of ``typing``, with brackets or without; it has no meaning."""

    __slots__ = ()

    def __getitem__(self, _: Any) -> _Type:
        return self

    def __or__(self, _: Any) -> _Type:
        return self

    __ror__ = __or__


def _loads(text: Any) -> Any:
    return json.loads(text)


_OWN: dict[str, dict[str, Any]] = {
    "numpy": {
        "empty": np.zeros,
        "empty_like": np.zeros_like,
        "pad": _pad,
        "errstate": _errstate,
        "finfo": _numbers(np.finfo, "eps", "max", "min", "tiny", "resolution", "smallest_normal", "bits"),
        "iinfo": _numbers(np.iinfo, "max", "min", "bits"),
        **{name: _index_maker(getattr(np, name)) for name in ("s_", "r_", "c_", "mgrid", "ogrid")},
    },
    "numpy.linalg": {"LinAlgError": ValueError},
    "json": {"loads": _loads},
    **{name: dict.fromkeys(members, _Type()) for name, members in ANNOTATIONS.items()},
    "typing": {**dict.fromkeys(ANNOTATIONS["typing"], _Type()), "NamedTuple": _NamedTuple()},
}
"""Substitutes for members of libraries that expose uninitialised memory or keep what is written to them."""


class Modules:
    """All modules that a policy may import, loaded before the guest is confined."""

    def __init__(self) -> None:
        self._members: dict[str, dict[str, Any]] = {}
        for name, allowed in MODULES.items():
            module = importlib.import_module(_OURS.get(name, name))
            found = {
                key: frozen(getattr(module, key))
                for key in allowed
                if hasattr(module, key) and not isinstance(getattr(module, key), types.ModuleType)
            }
            self._members[name] = found | {
                key: frozen(value) for key, value in _OWN.get(name, {}).items() if key in allowed
            }

    def episodes(self, code: types.CodeType) -> Callable[[bytes], EpisodeModules]:
        """Return a factory for the modules of each episode, given the bytes that decide its random numbers.

        Args:
            code: The program; the modules have only the members that it names.
        """
        named = frozenset(names_in(code))
        members = {
            name: {key: value for key, value in all_.items() if key in named}
            for name, all_ in self._members.items()
        }
        if named & UFUNC_METHODS:
            for key in members["numpy"]:
                ufunc = getattr(np, key, None)
                if isinstance(ufunc, np.ufunc):
                    members["numpy"][key] = _Ufunc(ufunc)
        shared: dict[str, Facade] = {}
        return lambda digest: EpisodeModules(members, named, shared, digest)


def names_in(code: types.CodeType) -> Iterator[str]:
    """Yield the name of every attribute and global that a code object uses."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_in(constant)


class EpisodeModules:
    """Facades by name, built on first use.

    Args:
        members: Members of each module that the program names.
        named: All names that the program uses.
        shared: Facades without state, which all episodes share.
        digest: 32 bytes that seed all random generators of the episode.
    """

    def __init__(
        self,
        members: dict[str, dict[str, Any]],
        named: frozenset[str],
        shared: dict[str, Facade],
        digest: bytes,
    ) -> None:
        self._members, self._named, self._shared, self._digest = members, named, shared, digest
        self._own: dict[str, Facade] = {}

    def __getitem__(self, name: str) -> Facade:
        found = self._shared.get(name) or self._own.get(name)
        if found is None:
            inner = {
                part: self[f"{outer}.{part}"]
                for outer, _, part in (path.rpartition(".") for path in MODULES)
                if outer == name and part in self._named
            }
            own = self._make_stateful_members(name)
            found = make_facade(self._members[name] | inner | own)
            (self._own if own or "random" in inner else self._shared)[name] = found
        return found

    def _make_stateful_members(self, name: str) -> dict[str, Any]:
        """Make the members that keep state: random generators, and classes that can be written to."""
        if name == "random":
            members = _random_members(self._digest)
        elif name == "numpy.random":
            members = _numpy_random_members(self._digest)
        elif name == "collections" and "Counter" in self._named:
            members = {"Counter": type("Counter", (collections.Counter,), {"__module__": "collections"})}
        else:
            members = {}
        return {key: value for key, value in members.items() if key in self._named}


def _random_members(digest: bytes) -> dict[str, Any]:
    children = _Children(digest, b"random")

    class Random(random.Random):
        """As in the standard library, but reproducible without a seed too."""

        def __init__(self, x: Any = None) -> None:
            super().__init__(children.next_bytes() if x is None else x)

        def seed(self, a: Any = None, version: int = 2) -> None:
            super().seed(children.next_bytes() if a is None else a, version)

    generator = Random(digest)
    names = MODULES["random"] - {"Random"}
    members = {name: getattr(generator, name) for name in names if hasattr(generator, name)}
    return members | {"Random": frozen(Random)}


def _numpy_random_members(digest: bytes) -> dict[str, Any]:
    children = _Children(digest, b"numpy")

    class RandomState(np.random.RandomState):
        """As in numpy, but reproducible without a seed too."""

        def __init__(self, seed: Any = None) -> None:
            super().__init__(_words(children.next_bytes()) if seed is None else seed)

        def seed(self, seed: Any = None) -> None:
            super().seed(_words(children.next_bytes()) if seed is None else seed)

    legacy = RandomState(_words(digest))
    names = DISTRIBUTIONS | {"rand", "randint", "randn", "random_sample", "seed"}
    members = {name: getattr(legacy, name) for name in names if hasattr(legacy, name)}

    def default_rng(seed: Any = None) -> np.random.Generator:
        """As in numpy, but reproducible without a seed too."""
        return np.random.default_rng(_words(children.next_bytes()) if seed is None else seed)

    own = {"default_rng": default_rng, "RandomState": RandomState}
    return members | {name: frozen(value) for name, value in own.items()}


def _words(digest: bytes) -> list[int]:
    return [int.from_bytes(digest[i : i + 4], "little") for i in range(0, len(digest), 4)]


class _Children:
    """A stream of seeds for generators that the policy creates without one."""

    def __init__(self, digest: bytes, label: bytes) -> None:
        self._digest, self._label, self._count = digest, label, 0

    def next_bytes(self) -> bytes:
        self._count += 1
        return hashlib.sha256(self._digest + self._label + self._count.to_bytes(8, "little")).digest()


def preload() -> None:
    """Import what numpy and the compiler would otherwise import later, when files can no longer be opened."""
    for name in ("unicodedata", "numpy.ma", "numpy.linalg", "numpy.fft", "numpy.random", "numpy.polynomial"):
        importlib.import_module(name)
    dataclasses.dataclass(type("warm", (), {}))
    sys.modules[MODULE_NAME] = types.ModuleType(MODULE_NAME)  # where dataclasses look up what ClassVar is
    vars(sys.modules[MODULE_NAME]).update(typing=typing, ClassVar=typing.ClassVar)
    warm = np.arange(6.0)
    np.median(warm), np.percentile(warm, 50), np.unique(warm), np.einsum("i,i", warm, warm)
    np.linalg.solve(np.eye(2), np.ones(2)), np.linalg.svd(np.eye(2))
    str(warm), repr(np.float64(0.5))
