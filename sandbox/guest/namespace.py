"""The namespace a policy's module runs in: restricted builtins, guards, imports of facades, captured prints."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from sandbox.gate.exposed import EXPOSED
from sandbox.gate.names import ATTRIBUTES, BUILTINS, MODULES, READABLE_SPECIALS
from sandbox.gate.transformer import OWN_GUARD, OWN_TYPES, READ_GUARD, TYPE, UPDATE_GUARD, WRITE_GUARD
from sandbox.guest.facades import Facade

MODULE_NAME = "policy"


class Output:
    """Captured prints of one episode, with a cap.

    Args:
        limit: Bytes that are kept.
        parts: Where they go, each with the lane's number.
        lane: The lane's number.
    """

    def __init__(self, limit: int, parts: list[tuple[int, str]], lane: int) -> None:
        self.left = limit
        self.parts = parts
        self.lane = lane

    def write(self, text: str) -> int:
        """Keep the text as far as there is room."""
        if self.left > 0:
            kept = text[: self.left]
            self.left -= len(kept.encode("utf-8", "replace"))
            self.parts.append((self.lane, kept))
        return len(text)

    def flush(self) -> None:
        """Nothing is buffered elsewhere."""


def _foreign(obj: Any, name: str) -> bool:
    """Whether an object has this attribute from somewhere else than the policy's own classes."""
    return not isinstance(obj, Facade | SimpleNamespace) and (
        any(name in vars(kind) for kind in type(obj).__mro__ if kind.__module__ != MODULE_NAME)
        or (
            type(obj).__module__ != MODULE_NAME
            and not (isinstance(obj, type) and obj.__module__ == MODULE_NAME and not _inherited(obj, name))
        )
    )


def _inherited(kind: type, name: str) -> bool:
    return any(name in vars(base) for base in kind.__mro__ if base.__module__ != MODULE_NAME)


def read(obj: Any, name: str) -> Any:
    """``obj.name`` for a name that exposed types have too: only for objects of the policy's own classes."""
    if _foreign(obj, name):
        raise AttributeError(f"the attribute .{name} of {type(obj).__name__} is not available to a policy")
    return getattr(obj, name)


def writable(obj: Any, name: str) -> Any:
    """The object itself, if the policy may set this attribute on it."""
    if isinstance(obj, Facade) or (name not in _SETTABLE and _foreign(obj, name)):
        raise AttributeError(
            f"a policy cannot set .{name} of {type(obj).__name__}; use an object of your own class"
        )
    return obj


_SETTABLE = frozenset({"shape", "flat", "real", "imag", "T"})


def owner(own_types: set[type]) -> Callable[[Any], None]:
    """What a method calls that sets attributes of its first argument, when it meets a type for the first time.

    Args:
        own_types: Where types of the module's own are noted.
    """

    def own(obj: Any) -> None:
        kind = type(obj)
        if kind.__module__ == MODULE_NAME:
            own_types.add(kind)
        elif not (isinstance(obj, type) and obj.__module__ == MODULE_NAME):
            raise AttributeError(
                f"a policy cannot set attributes of {kind.__name__}; use an object of your own class"
            )

    return own


def check_attribute_name(name: Any) -> str:
    """A name given as text to getattr, setattr or hasattr."""
    if type(name) is not str:
        raise TypeError("attribute names are text")
    if name.startswith("__") and name.endswith("__") and name not in READABLE_SPECIALS:
        raise AttributeError(f"the attribute {name} is not available to a policy")
    return name


def guarded_getattr(obj: Any, name: str, *default: Any) -> Any:
    """``getattr`` under the same rules as ``obj.name``."""
    name = check_attribute_name(name)
    if name in EXPOSED and name not in ATTRIBUTES and not isinstance(obj, Facade) and _foreign(obj, name):
        if default:
            return default[0]
        raise AttributeError(f"the attribute .{name} of {type(obj).__name__} is not available to a policy")
    return getattr(obj, name, *default)


def guarded_hasattr(obj: Any, name: str) -> bool:
    """``hasattr`` under the same rules as ``obj.name``."""
    try:
        guarded_getattr(obj, name)
    except AttributeError:
        return False
    return True


def guarded_setattr(obj: Any, name: str, value: Any) -> None:
    """``setattr`` on objects of the policy's own classes."""
    name = check_attribute_name(name)
    if name.startswith("__"):
        raise AttributeError(f"the attribute {name} is not available to a policy")
    setattr(writable(obj, name), name, value)


def update(obj: Any, *mappings: Any, **fields: Any) -> None:
    """``self.__dict__.update(...)``."""
    for name, value in dict(*mappings, **fields).items():
        guarded_setattr(obj, name, value)


class _TypeMeta(type):
    def __call__(cls, *args: Any) -> Any:
        if len(args) != 1:
            raise TypeError("type() takes one argument here; write a class statement instead")
        kind = type(args[0])
        return cls if issubclass(kind, type) else kind

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, type)


class GuardedType(metaclass=_TypeMeta):
    """``type`` of one argument; metaclasses stay out of reach."""


_FIXED: dict[str, Any] = {name: getattr(builtins, name) for name in BUILTINS if hasattr(builtins, name)} | {
    "getattr": guarded_getattr,
    "hasattr": guarded_hasattr,
    "setattr": guarded_setattr,
    "type": GuardedType,
}


_INERT = Facade("internal", {})


def importer(facades: dict[str, Facade]) -> Callable[..., Facade]:
    """An ``__import__`` that hands out facades.

    numpy's C code imports its own modules through the calling frame's ``__import__`` and then takes them
    from ``sys.modules``; it gets an empty stand-in, and so would a policy.
    """

    def import_(
        name: str, _globals: Any = None, _locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> Facade:
        if level == 0 and name in MODULES:
            try:
                return facades[name] if fromlist else facades[name.split(".", maxsplit=1)[0]]
            except KeyError:
                raise ImportError(f"the module {name} is not installed here") from None
        if level == 0 and name in sys.modules:
            return _INERT
        raise ImportError(f"the module {name} is not available to a policy")

    return import_


def restricted(facades: dict[str, Facade], output: Output) -> dict[str, Any]:
    """Globals for one episode's copy of the module."""

    def print_(*values: Any, sep: str | None = " ", end: str | None = "\n", **_: Any) -> None:
        if output.left > 0:
            print(*values, sep=sep, end=end, file=output)

    own_types: set[type] = set()
    return {
        "__name__": MODULE_NAME,
        TYPE: type,
        OWN_TYPES: own_types,
        OWN_GUARD: owner(own_types),
        "__builtins__": {**_FIXED, "__import__": importer(facades), "print": print_},
        READ_GUARD: read,
        WRITE_GUARD: writable,
        UPDATE_GUARD: update,
    }


def unrestricted() -> dict[str, Any]:
    """Globals for a module that did not pass the gate: everything the interpreter has, under the kernel's rules."""
    return {"__name__": MODULE_NAME, "__builtins__": builtins}
