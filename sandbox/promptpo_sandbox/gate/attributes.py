"""Which attribute names may be read, whatever object they are read from.

Nobody can tell from a syntax tree what an expression is, so the name decides. A name is *allowed* on any
object (`names.ATTRIBUTES`), the program's *own* (it defines the attribute itself), or *taken*: some object
within reach has it and it leads out, so that not even a program's own attribute may be called so.
"""

from __future__ import annotations

import collections
import functools
import random
import types
from collections.abc import Iterable

import numpy as np

from promptpo_sandbox.gate import names


def _own(kind: type) -> Iterable[str]:
    """What a type has beyond what every object has."""
    return (name for name in dir(kind) if name not in dir(object))


_WITHIN_REACH = (
    *(BaseException, np.ndarray, np.dtype, np.ufunc, np.generic, np.flatiter, np.finfo, np.iinfo, np.ndindex),
    *(
        np.random.Generator,
        np.random.RandomState,
        random.Random,
        collections.Counter,
        collections.OrderedDict,
    ),
    *(functools.partial, property, np.random.BitGenerator, np.random.SeedSequence, type(np.mean)),
)
TAKEN = (
    frozenset(
        name
        for kind in (
            types.FrameType,
            types.CodeType,
            types.TracebackType,
            types.FunctionType,
            types.MethodType,
            types.ModuleType,
            type(np.random.Generator.normal),  # a function of Cython: func_globals, func_code
        )
        for name in _own(kind)
    )
    | {f"{kind}_{part}" for kind in ("gi", "cr", "ag") for part in ("frame", "code", "yieldfrom", "await")}
    # what a library means for itself
    | {
        name
        for kind in _WITHIN_REACH
        for name in dir(kind)
        if name.startswith("_") and not name.startswith("__")
    }
    # arrays: files, raw memory, memory that is freed while others use it
    | frozenset(
        "ctypes dump dumps getfield newbyteorder byteswap resize setfield setflags tofile writeable".split()  # noqa: SIM905
    )
    # random generators: pointers to C functions
    | frozenset(["bit_generator", "cffi", "capsule", "generate_state", "random_raw", "seed_seq"])
    # text that is taken for an attribute's name or for code, and classes out of thin air
    | frozenset(["attrname", "format", "format_map", "mro"])
) - names.ATTRIBUTES
"""Names that no attribute may have, not even a program's own."""


def read_problem(name: str, defined: frozenset[str], *, exceptions: bool) -> str | None:
    """Why an attribute may not be read or set; None if it may.

    Args:
        name: Of the attribute.
        defined: Attributes that the module defines itself.
        exceptions: Whether the module has exceptions as values: an AttributeError carries the object it is about.
    """
    if name in names.ATTRIBUTES:
        return None
    if name in TAKEN or (exceptions and name == "obj"):
        own = name in defined and name not in names.HINTS
        return f"the attribute .{name} is not allowed{'; choose another name for your own' if own else hint(name)}"
    if name in defined:
        return None
    if name in names.HINTS:
        return f"the attribute .{name} is not allowed{hint(name)}"
    return (
        f"the attribute .{name} is neither defined by this module nor one of the allowed ones; "
        f"set self.{name} first, or use another function"
    )


def hint(name: str) -> str:
    """What to use instead, to be put at the end of a sentence."""
    text = names.HINTS.get(name)
    return f"; {text}" if text else ""
