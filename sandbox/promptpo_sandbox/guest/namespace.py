"""The namespace a policy's module runs in: restricted builtins, imports of facades, captured prints."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from promptpo_sandbox.gate.names import BUILTINS, MODULES
from promptpo_sandbox.gate.review import GUARD
from promptpo_sandbox.guest.facades import MODULE_NAME, EpisodeModules, Facade, make_facade


class Output:
    """Captured prints of one episode, with a cap.

    Args:
        limit: Maximum number of bytes to keep.
        parts: The list to which texts are appended, each with its output.
        lane: The lane's number.
    """

    def __init__(self, limit: int, parts: list[tuple[Output, str]], lane: int) -> None:
        self.left = limit
        self.parts = parts
        self.lane = lane
        self.closed = False

    def write(self, text: str) -> int:
        """Keep the text up to the limit."""
        if self.left > 0:
            kept = text[: self.left]
            self.left -= len(kept.encode("utf-8", "replace"))
            self.parts.append((self, kept))
        return len(text)

    def close(self) -> None:
        """Keep nothing more, and discard what has not been sent: the host no longer knows the lane."""
        self.left, self.closed = 0, True

    def flush(self) -> None:
        """Nothing is buffered elsewhere."""


_CARRIERS = (type, FunctionType)
"""Types whose instances have a ``__module__`` of their own."""


def check_own(value: Any) -> Any:
    """Return an object if it is the program's own, so that it may set attributes: a library's would keep them for later episodes.

    The gate decides by names, and cannot know that `error.args[0]` is a function of numpy.

    Raises:
        AttributeError: The object is not the program's own.
    """
    kind = type(value)
    if kind.__module__ != MODULE_NAME and not (kind in _CARRIERS and value.__module__ == MODULE_NAME):
        raise AttributeError(
            f"an attribute can be set on objects of your own classes, not on a {kind.__name__}"
        )
    return value


def _set_attribute(value: Any, name: str, new: Any) -> None:
    setattr(check_own(value), name, new)


_FIXED: dict[str, Any] = {name: getattr(builtins, name) for name in BUILTINS} | {
    "__build_class__": builtins.__build_class__,
    GUARD: check_own,
    "setattr": _set_attribute,
}
_INERT = make_facade({})


def importer(modules: EpisodeModules) -> Callable[..., Facade]:
    """Return an ``__import__`` that returns facades.

    numpy's C code imports its own modules through the calling frame's ``__import__`` and then takes them
    from ``sys.modules``; it gets an empty facade, and so would a policy.
    """

    def import_(
        name: str, _globals: Any = None, _locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> Facade:
        if level == 0 and name in MODULES:
            return modules[name if fromlist else name.split(".", maxsplit=1)[0]]
        if level == 0 and name in sys.modules:
            return _INERT
        raise ImportError(f"the module {name} is not available to a policy")

    return import_


def make_restricted_globals(modules: EpisodeModules, output: Output) -> dict[str, Any]:
    """Return the globals of one episode's copy of the module."""

    def print_(*values: Any, sep: str | None = " ", end: str | None = "\n", **_: Any) -> None:
        if output.left > 0:
            print(*values, sep=sep, end=end, file=output)

    return {
        "__name__": MODULE_NAME,
        "__builtins__": {**_FIXED, "__import__": importer(modules), "print": print_},
    }


def make_unrestricted_globals() -> dict[str, Any]:
    """Return the globals of a module that the gate does not check: the whole interpreter, under the kernel's rules."""
    return {"__name__": MODULE_NAME, "__builtins__": builtins}
