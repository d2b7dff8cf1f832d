"""The graph of all values that a policy can reach, from every name it can write through every attribute it may use."""

from __future__ import annotations

import builtins
import collections
import copy
import dataclasses
import functools
import importlib
import itertools
import random
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from promptpo_sandbox.gate.attributes import TAKEN
from promptpo_sandbox.gate.forms import CALLED, RESTRICTED
from promptpo_sandbox.gate.names import ANNOTATIONS, BUILTINS, MODULES

DOORS = {
    id(getattr(builtins, name)): name for name in ("open", "exec", "eval", "compile", "__import__", "input")
}


def exposed_values(member: Callable[[str, str], Any]) -> Iterator[tuple[str, Any]]:
    """Yield every path that the gate admits, with its value.

    Args:
        member: Returns a namespace's member by name, or raises AttributeError or KeyError.
    """
    for space, allowed in MODULES.items():
        for name in allowed:
            path = f"{space}.{name}"
            if path in MODULES or space in ANNOTATIONS:
                continue
            try:
                yield path, member(space, name)
            except (AttributeError, KeyError, ImportError):
                continue
    for name in BUILTINS:
        if hasattr(builtins, name) and not name.startswith("__"):
            yield name, getattr(builtins, name)


def real_member(space: str, name: str) -> Any:
    """Return a member of the real module, as an exported file uses it."""
    return getattr(
        importlib.import_module({"looking": "promptpo_sandbox.guest.looking"}.get(space, space)), name
    )


@dataclasses.dataclass
class _Point:
    x: float = 0.0

    @property
    def half(self) -> float:
        return self.x / 2


@functools.lru_cache
def _cached(x: int) -> int:
    return x


def _generator() -> Iterator[int]:
    yield 1


def _raised(function: Callable[[], Any]) -> BaseException:
    try:
        function()
    except Exception as error:  # noqa: BLE001 - whatever it raised
        return error
    raise AssertionError


def sample_values() -> Iterator[tuple[str, Any]]:
    """Yield one of every kind of value that a policy can make or receive."""
    rng = np.random.default_rng(0)
    array = np.arange(6.0).reshape(2, 3)
    yield from {
        "array": array,
        "object array": np.array([1, None], dtype=object),
        "text array": np.array(["a"]),
        "scalar": np.float64(1),
        "integer": np.int64(1),
        "truth": np.bool_(1),
        "dtype": array.dtype,
        "record": np.zeros(1, dtype=[("a", float)])[0],
        "flat": array.flat,
        "finfo": np.finfo(float),
        "iinfo": np.iinfo(int),
        "ndindex": np.ndindex(2),
        "ufunc": np.add,
        "generator of numbers": rng,
        "its method": rng.normal,
        "old generator": np.random.RandomState(0),
        "Random": random.Random(0),
        "its shuffle": random.Random(0).shuffle,
        "svd": np.linalg.svd(np.eye(2)),
        "list": [1],
        "tuple": (1,),
        "dict": {1: 2},
        "views": [{1: 2}.keys(), {1: 2}.items(), {1: 2}.values()],
        "set": {1},
        "text": "a",
        "bytes": b"a",
        "bytearray": bytearray(b"a"),
        "slice": slice(1),
        "range": range(2),
        "complex": 1j,
        "float": 1.0,
        "int": 1,
        "truth value": True,
        "none": None,
        "function": _generator,
        "cached": _cached,
        "lambda": lambda: 0,
        "generator": _generator(),
        "method": _Point().__init__,  # type: ignore[misc]
        "bound builtin": [].append,
        "unbound builtin": list.append,
        "class": _Point,
        "instance": _Point(),
        "property": property(_generator),
        "classmethod": classmethod(_generator),
        "staticmethod": staticmethod(_generator),
        "super": super(_Point, _Point()),
        "partial": functools.partial(_cached, 1),
        "cmp_to_key": functools.cmp_to_key(lambda a, b: 0),
        "namedtuple": collections.namedtuple("Pair", ["a", "b"])(1, 2),  # type: ignore[call-arg]  # noqa: PYI024 - as policies write it
        "deque": collections.deque([1]),
        "defaultdict": collections.defaultdict(list),
        "Counter": collections.Counter("a"),
        "OrderedDict": collections.OrderedDict(a=1),
        "iterators": [zip([1]), map(abs, [1]), filter(None, [1]), enumerate([1]), reversed([1]), iter([1])],
        "more iterators": [
            itertools.count(),
            itertools.chain([1]),
            itertools.cycle([1]),
            iter({1: 2}),
            iter("a"),
        ],
        "copied": copy.copy(_Point()),
        "exceptions": [
            _raised(lambda: [].missing),
            _raised(lambda: missing),  # type: ignore[name-defined] # noqa: F821
            _raised(lambda: int("x")),
            _raised(lambda: {}[1]),
            _raised(lambda: next(iter([]))),
            _raised(b"\xff".decode),
            _raised(lambda: importlib.import_module("no_such_module")),
            _raised(lambda: np.zeros(2) @ np.zeros(3)),
            _raised(lambda: np.linalg.inv(np.zeros((2, 2)))),
        ],
    }.items()


ARGUMENTS: tuple[tuple[Any, ...], ...] = (
    *((), (np.eye(2),), (np.eye(2), np.eye(2)), (1.0,), (2, 1), ([1, 2],), ("a",), ([1], 1)),
    *((_generator,), (lambda *_: 0, [1]), (np.arange(3.0), np.arange(3.0), 1)),
)
"""Small arguments; most functions accept some of them."""


def call_results() -> Iterator[tuple[str, Any]]:
    """Yield the results of exposed functions and classes, and of methods of these results."""
    for path, function in [*exposed_values(real_member), *sample_values()]:
        if not callable(function) or path == "print" or (path in RESTRICTED and path not in CALLED):
            continue
        for arguments in ARGUMENTS:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    yield f"{path}(...)", function(*copy.deepcopy(arguments))
            except Exception:  # noqa: BLE001, S112 - a call that fails gives no value
                continue


def readable_parts(value: Any, taken: frozenset[str]) -> Iterator[tuple[str, Any]]:
    """Yield a value's items, and its attributes with names that any program may use."""
    for name in dir(value):
        if name in taken or (name.startswith("__") and name.endswith("__") and name != "__name__"):
            continue
        try:
            yield f".{name}", getattr(value, name)
        except Exception:  # noqa: BLE001, S112 - what raises gives nothing
            continue
    if type(value) in {list, tuple, set, frozenset, collections.deque}:
        yield from ((f"[{i}]", item) for i, item in enumerate(list(value)[:50]))
    elif isinstance(value, dict | types.MappingProxyType):
        yield from ((f"[{key!r}]", item) for key, item in list(value.items())[:200])


def door(value: Any) -> str:
    """Return what dangerous thing a value is, or an empty string."""
    if isinstance(value, types.ModuleType):
        return "a module"
    if isinstance(value, types.CodeType | types.FrameType | types.TracebackType):
        return "code or a frame"
    if id(value) in DOORS:
        return DOORS[id(value)]
    if isinstance(value, dict) and ("__builtins__" in value or "__spec__" in value):
        return "a module's namespace"
    if isinstance(value, dict) and hasattr(type(value), "__getattr__"):
        return "attributes made of text"
    if isinstance(value, type) and issubclass(value, type):
        return "a metaclass"
    if type(value).__name__ == "PyCapsule" or type(value).__module__ in {"ctypes", "_ctypes"}:
        return "raw memory"
    return ""


_ALIKE = (int, float, complex, str, bytes, bool, type(None), np.generic)


def identity_of(value: Any) -> Any:
    """Return a key shared by values that lead to the same things: their identity, or their type if that suffices."""
    if isinstance(value, _ALIKE) and type(value).__module__ in {"builtins", "numpy"}:
        return type(value)
    if isinstance(value, np.ndarray):
        return type(value), value.dtype.str
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType | type):
        return type(value), type(owner), getattr(value, "__qualname__", "")
    return id(value)


def walk(
    roots: Iterable[tuple[str, Any]], taken: frozenset[str] = TAKEN
) -> tuple[list[str], dict[Any, tuple[str, Any]]]:
    """Return the doors that can be reached, and everything that can be reached.

    Args:
        roots: Paths and values to start from.
        taken: Names of attributes that no program may use.
    """
    doors: list[str] = []
    seen: dict[Any, tuple[str, Any]] = {}
    left = collections.deque(roots)
    while left:
        path, value = left.popleft()
        key = identity_of(value)
        if key in seen or path.count(".") + path.count("[") > 12:
            continue
        seen[key] = path, value  # keeps the value alive, so that its id is not reused
        found = door(value)
        if found:
            doors.append(f"{path} is {found}")
            continue
        left.extend((path + step, item) for step, item in readable_parts(value, taken))
    return doors, seen


def is_restricted(path: str) -> bool:
    """Return whether the gate admits a path only in certain places, never as a value."""
    return path in RESTRICTED


__all__ = ["call_results", "exposed_values", "is_restricted", "real_member", "sample_values", "walk"]
