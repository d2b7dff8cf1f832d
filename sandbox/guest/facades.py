"""What ``import`` gives a policy: frozen stand-ins that hold the allowed names of a module and nothing else."""

from __future__ import annotations

import dataclasses
import importlib
import random
import sys
import typing
from types import ModuleType
from typing import Any

import numpy as np

from sandbox.gate.names import DISTRIBUTIONS, MODULES, OBJECTS


class Facade:
    """A module as a policy sees it: attributes can be read, never set."""

    def __init__(self, name: str, members: dict[str, Any]) -> None:
        self.__dict__.update(members)
        self.__dict__["__name__"] = name

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"the module {self.__dict__['__name__']} cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"the module {self.__dict__['__name__']} cannot be changed")

    def __repr__(self) -> str:
        return f"<module {self.__dict__['__name__']}>"


class Modules:
    """All modules that a policy may import, loaded before the guest is confined.

    Args:
        scipy: Whether to load scipy too, which takes most of a second.
    """

    def __init__(self, *, scipy: bool = False) -> None:
        self._members: dict[str, dict[str, Any]] = {}
        for name, allowed in MODULES.items():
            if name.split(".")[0] != "scipy" or scipy:
                module = _loaded(name)
                members = {key: getattr(module, key) for key in allowed if hasattr(module, key)}
                self._members[name] = {
                    key: value
                    for key, value in members.items()
                    if not isinstance(value, ModuleType) and f"{name}.{key}" not in OBJECTS
                }
        self._members["numpy"] |= {"empty": np.zeros, "empty_like": np.zeros_like}
        self._fixed = {
            name: Facade(name, members)
            for name, members in self._members.items()
            if name not in {"random", "numpy", "numpy.random"} and name.split(".")[0] != "scipy"
        }
        self._nest(self._fixed, "collections", "abc")
        if scipy:
            self._add_scipy()

    def _add_scipy(self) -> None:
        names = sorted((name for name in self._members if name.split(".")[0] == "scipy"), reverse=True)
        for name in names:  # the innermost first
            inner = {
                other.rpartition(".")[2]: facade
                for other, facade in self._fixed.items()
                if other.rpartition(".")[0] == name
            }
            functions = {k: v for k, v in self._members[name].items() if f"{name}.{k}" not in MODULES}
            self._fixed[name] = Facade(name, functions | inner)

    @staticmethod
    def _nest(facades: dict[str, Facade], outer: str, inner: str) -> None:
        facades[outer].__dict__[inner] = facades[f"{outer}.{inner}"]

    def for_episode(self, digest: bytes) -> EpisodeModules:
        """The modules of one episode, with random generators of its own.

        Args:
            digest: 32 bytes that decide all of the episode's random numbers.
        """
        return EpisodeModules(self._fixed, self._members, digest)


class EpisodeModules(dict[str, Facade]):
    """Facades by name; those with random generators are built when they are first asked for."""

    def __init__(self, fixed: dict[str, Facade], members: dict[str, dict[str, Any]], digest: bytes) -> None:
        super().__init__(fixed)
        self._all = members
        self._digest = digest

    def __missing__(self, name: str) -> Facade:
        if name == "random":
            facade = Facade(name, self._all[name] | _random_members(self._digest))
        elif name == "numpy.random":
            facade = Facade(name, self._all[name] | _numpy_random_members(self._digest))
        elif name == "numpy":
            inner = {part: self[f"numpy.{part}"] for part in ("fft", "linalg", "typing")}
            facade = _Numpy(name, self._all[name] | inner)
            facade.__dict__["<random>"] = lambda: self["numpy.random"]
        else:
            raise KeyError(name)
        self[name] = facade
        return facade


class _Numpy(Facade):
    """numpy, whose ``random`` is built only for those who use it."""

    def __getattr__(self, name: str) -> Any:
        if name != "random":
            raise AttributeError(f"numpy.{name} is not available to a policy")
        self.__dict__["random"] = module = self.__dict__["<random>"]()
        return module


_OURS = {"looking": "sandbox.guest.looking"}
"""Modules that are part of the guest, by the names that policies import them by."""


def _loaded(name: str) -> Any:
    """A namespace's module or object."""
    if name in OBJECTS:
        module, _, member = name.rpartition(".")
        return getattr(importlib.import_module(module), member)
    return importlib.import_module(_OURS.get(name, name))


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
    return members | {"Random": Random}


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

    aliases = {"ranf": legacy.random_sample, "sample": legacy.random_sample}
    return members | aliases | {"default_rng": default_rng, "RandomState": RandomState}


def _words(digest: bytes) -> list[int]:
    return [int.from_bytes(digest[i : i + 4], "little") for i in range(0, len(digest), 4)]


class _Children:
    """A stream of seeds for generators that the policy creates without one."""

    def __init__(self, digest: bytes, label: bytes) -> None:
        self._digest, self._label, self._count = digest, label, 0

    def next_bytes(self) -> bytes:
        import hashlib

        self._count += 1
        return hashlib.sha256(self._digest + self._label + self._count.to_bytes(8, "little")).digest()


def preload() -> None:
    """Import what numpy would otherwise import later, when no file can be opened any more."""
    module = ModuleType("policy")
    module.__dict__.update({name: getattr(typing, name) for name in ("ClassVar", "Final", "Optional")})
    module.__dict__.update(typing=typing, dataclasses=dataclasses, InitVar=dataclasses.InitVar)
    sys.modules["policy"] = module  # where dataclasses look up annotations that are text
    for name in (
        "numpy.ma",
        "numpy.linalg",
        "numpy.fft",
        "numpy.random",
        "numpy.polynomial",
        "numpy.typing",
        "hashlib",
    ):
        importlib.import_module(name)
    warm = np.arange(6.0)
    np.median(warm), np.percentile(warm, 50), np.unique(warm), np.einsum("i,i", warm, warm)
    np.linalg.solve(np.eye(2), np.ones(2)), np.linalg.svd(np.eye(2))
    str(warm), repr(np.float64(0.5))
    if "numpy.ma" not in sys.modules:  # pragma: no cover
        raise ImportError("numpy.ma")
