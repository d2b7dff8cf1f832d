"""Rules for reading and storing attributes.

A syntax tree does not tell what an expression is, so what decides is the name, and whether the object is surely the
program's own. A name is *allowed* on any object (`names.ATTRIBUTES`), the program's *own* (it defines the attribute
itself), or *taken*: it leads out on some object within reach, so not even the program's own attributes may have it.
"""

from __future__ import annotations

import ast
import builtins
import collections
import functools
import itertools
import random
import types
from collections.abc import Iterator

import numpy as np
from numpy._core import _exceptions
from RestrictedPython.transformer import INSPECT_ATTRIBUTES

from promptpo_sandbox.gate import names
from promptpo_sandbox.guest.mechanism import Mechanism

_WITHIN_REACH: tuple[type, ...] = (
    *(
        kind
        for name in names.BUILTINS
        if isinstance(kind := getattr(builtins, name), type) and kind is not type
    ),
    *(ImportError, UnicodeError, UnicodeDecodeError, UnicodeEncodeError, memoryview, slice),
    *(kind for kind in vars(itertools).values() if isinstance(kind, type)),
    *(types.GeneratorType, types.FunctionType, types.MethodType, types.BuiltinFunctionType, type(str.join)),
    *(functools.partial, type(functools.cmp_to_key(max)), type(functools.lru_cache(max))),
    *(collections.Counter, collections.OrderedDict, collections.defaultdict, collections.deque),
    *(collections.namedtuple("Any", ()), type({}.keys()), type({}.values()), type({}.items())),  # noqa: PYI024
    *(np.ndarray, np.dtype, np.ufunc, np.flatiter, np.finfo, np.iinfo, np.ndindex, np.ndenumerate, np.number),
    *(np.generic, np.float64, np.bool_, type(np.zeros(1).flags), type(np.mean), type(np.c_), type(np.mgrid)),
    *(np.random.Generator, np.random.RandomState, np.random.BitGenerator, np.random.SeedSequence),
    *(random.Random, type(np.random.Generator.normal), Mechanism),
    *(kind for kind in vars(_exceptions).values() if isinstance(kind, type)),
)
"""Types other than a program's own whose values it can obtain."""

DEFINED = frozenset(name for kind in _WITHIN_REACH for name in dir(kind))
"""Names that some type within reach defines: on a value that may be of such a type they count as the type's."""

SURE_SELF_ONLY = names.UFUNC_METHODS | {"dtype", "imag", "names", "obj", "real", "shape", "strides", "view"}
"""Names allowed only on a `self` that is sure to be of its class.

On an array they can reinterpret memory, so that any address can be read and written; on an AttributeError, ``obj`` is
the object that it is about; on a ufunc they replace a method for all its users.
"""

TAKEN = (
    frozenset(INSPECT_ATTRIBUTES)
    | {
        name
        for kind in (
            *(types.FrameType, types.CodeType, types.TracebackType, types.FunctionType, types.MethodType),
            *(types.ModuleType, type(np.random.Generator.normal)),  # Cython's func_globals, func_code
        )
        for name in dir(kind)
        if name not in dir(object)
    }
    # private names of libraries
    | {name for name in DEFINED if name.startswith("_") and not name.startswith("__")}
    # arrays: files, raw memory, memory that is freed while others use it
    | frozenset(
        "ctypes dump dumps getfield newbyteorder byteswap resize setfield setflags tofile writeable".split()  # noqa: SIM905
    )
    # random generators: pointers to C functions
    | frozenset(["bit_generator", "cffi", "capsule", "generate_state", "random_raw", "seed_seq"])
    # text that is interpreted as an attribute's name or as code, and base classes
    | frozenset(["attrname", "format", "format_map", "mro"])
) - names.ATTRIBUTES
"""Names that no attribute may have, not even a program's own."""


def attribute_names_of(nodes: list[ast.AST]) -> frozenset[str]:
    """Return every name by which the module creates an attribute: in a class body, by a store or by a form that takes its text."""
    return frozenset(name for node in nodes for name in _creates(node))


def _creates(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name):
            yield name
        case ast.Attribute(attr=name, ctx=ast.Store()):
            yield name
        case ast.ClassDef(name=name, body=body):
            yield name
            parts = (
                part for line in body if not isinstance(line, ast.FunctionDef) for part in ast.walk(line)
            )
            yield from (
                part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
            )
        case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value=str(name)), _]):
            yield name
        case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[_, ast.Constant(value=str(name)), *_]):
            yield from {name} - DEFINED  # a look-up may find nothing
        case ast.Call(func=ast.Name(id="namedtuple") | ast.Attribute(attr="namedtuple"), args=[_, fields]):
            texts = [part.value for part in ast.walk(fields) if isinstance(part, ast.Constant)]
            yield from (
                word for text in texts if isinstance(text, str) for word in text.replace(",", " ").split()
            )


def why_read_refused(name: str, defined: frozenset[str], *, own: bool) -> str | None:
    """Return why an attribute may not be read from an object, the program's own or not; None if it may."""
    if name in names.ATTRIBUTES:
        return None
    if name in TAKEN or (name not in defined and name in names.HINTS):
        renamed = name in defined and name not in names.HINTS
        return f"the attribute .{name} is not allowed{_RENAME if renamed else hint(name)}"
    if name not in defined:
        return (
            f"the attribute .{name} is neither defined by this module nor one of the allowed ones; "
            f"set self.{name} first, or use another function"
        )
    if not own and (name.startswith("_") or name in DEFINED):
        return f"the attribute .{name} can be read from self alone; read it in a method of its class, or choose another name"
    return None


def why_store_refused(name: str, *, own: bool) -> str | None:
    """Return why an attribute may not be stored in an object, the program's own or not; None if it may."""
    if name in TAKEN:
        return f"the attribute .{name} is not allowed{hint(name) or _RENAME}"
    if own or not (name.startswith("_") or name in DEFINED):
        return None
    instead = _INSTEAD.get(
        name, f"set it in a method of its class, as self.{name} = ..., or choose another name"
    )
    return f"the attribute .{name} can be set on self alone; {instead}"


_RENAME = "; choose another name for your own"
_INSTEAD = {
    "shape": "use .reshape(...) instead",
    "dtype": "use .astype(...) instead",
    "strides": "use slices, such as a[::2], instead",
}


def hint(name: str) -> str:
    """Return what to use instead of a name, for the end of a sentence; empty if there is no advice."""
    return f"; {names.HINTS[name]}" if name in names.HINTS else ""
