"""Which attribute names may be read, whatever object they are read from.

Nobody can tell from a syntax tree what an expression is, so the name decides. A name is *allowed* on any
object (`names.ATTRIBUTES`), the program's *own* (it defines the attribute itself), or *taken*: some object
within reach has it and it leads out, so that not even a program's own attribute may be called so.
"""

from __future__ import annotations

import types
from collections.abc import Iterable

import numpy as np

from sandbox.gate import names
from sandbox.gate.exposed import EXPOSED, PRIVATE


def _own(kind: type) -> Iterable[str]:
    """What a type has beyond what every object has."""
    return (name for name in dir(kind) if name not in dir(object))


_HARMLESS = frozenset(["_all", "_call", "_init", "_invalid", "_msg", "_name", "_over", "_under"])
"""Private names that programs like to use and that lead nowhere in a library."""

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
    | (PRIVATE - _HARMLESS)
    # arrays: files, raw memory, memory that is freed while others use it, objects reinterpreted as numbers
    | frozenset(
        [
            "ctypes",
            "dump",
            "dumps",
            "getfield",
            "newbyteorder",
            "byteswap",
            "resize",
            "setfield",
            "setflags",
            "tofile",
        ]
    )
    | frozenset(
        ["bit_generator", "cffi", "capsule", "generate_state", "random_raw", "seed_seq", "state_address"]
    )
    # scipy: modules that a Rotation carries, containers that all interpolators share
    | frozenset(
        [
            "_backend",
            "_xp",
            "_ALL_METHODS",
            "_SPLINE_DEGREE_MAP",
            "_SPLINE_METHODS",
            "_SPLINE_METHODS_ndbspl",
            "_SPLINE_METHODS_recursive",
        ]
    )
    # text that is taken for an attribute's name or for code
    | frozenset(["attrname", "format", "format_map"])
    # classes out of thin air, and what rewires those that exist
    | frozenset({"mro"})
    # what modules would be asked for, if one should come within reach after all
    | frozenset(
        """
        builtins ctypeslib eval exec execv execve exec_module environ f2py fromfile fromstring genfromtxt
        import_module importlib inspect load_library load_module loader loads loadtxt memmap modules
        open_memmap os popen posix pty putenv remove_tree rmtree run_code savez savez_compressed savetxt settrace
        setprofile shutil spawnl spawnv subprocess sys system unlink urlopen
        """.split()  # noqa: SIM905 - names read better as text
    )
) - names.ATTRIBUTES
"""Names that no attribute may have, not even a program's own."""

_TAKEN_FROM_EXCEPTIONS = frozenset({"obj"})
"""Taken where a program handles exceptions as values: an AttributeError carries the object that it is about."""


def read_problem(name: str, defined: frozenset[str], *, exceptions: bool = False) -> str | None:
    """Why an attribute may not be read or set; None if it may.

    Args:
        name: Of the attribute.
        defined: Attributes that the module defines itself.
        exceptions: Whether the module has exceptions as values.
    """
    if name.startswith("__") and name.endswith("__"):
        if name in names.READABLE_SPECIALS:
            return None
        return f"the attribute {name} is not allowed{hint(name)}"
    if name in names.ATTRIBUTES:
        return None
    if name in TAKEN or (exceptions and name in _TAKEN_FROM_EXCEPTIONS):
        if name in defined and name not in names.HINTS:
            return f"the attribute .{name} is not allowed; choose another name for your own"
        return f"the attribute .{name} is not allowed{hint(name)}"
    if name in defined:
        return None
    if name in EXPOSED:
        return f"the attribute .{name} is not allowed{hint(name)}"
    return (
        f"the attribute .{name} is neither defined by this module nor one of the allowed ones; "
        f"set self.{name} first, or use another function"
    )


def hint(name: str) -> str:
    """What to use instead, to be put at the end of a sentence."""
    text = names.HINTS.get(name)
    return f"; {text}" if text else ""
