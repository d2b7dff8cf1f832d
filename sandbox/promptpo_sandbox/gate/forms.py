"""What may be written in certain forms only, and is never a value: what builds classes or memory, and what could be patched."""

from __future__ import annotations

import ast
import builtins
import string
from collections.abc import Callable
from typing import Any

from promptpo_sandbox.gate import names
from promptpo_sandbox.gate.bindings import Bindings


class Forms:
    """Whether expressions stand where they may.

    Args:
        bindings: What the module's names stand for.
        class_names: Names that some class's body both binds and reads.
    """

    def __init__(self, bindings: Bindings, class_names: set[str]) -> None:
        self._bindings, self._class_names = bindings, class_names

    def problem(self, node: ast.AST, path: str) -> str | None:
        """Why a member of a library may not stand where it does; None if it may."""
        rule, form = MEMBERS.get(path, (None, ""))
        return f"{path} {form}" if rule is not None and not rule(self, *self._around(node)) else None

    def _around(self, node: ast.AST) -> tuple[Any, Any, Any, Any]:
        """An expression and what it is part of, three times over."""
        parents = self._bindings.parents
        parent = parents.get(node)
        outer = parents.get(parent) if parent else None
        return node, parent, outer, parents.get(outer) if outer else None

    def is_called(self, node: Any, parent: Any, *_: Any) -> bool:
        """Whether it is the function of a call."""
        return isinstance(parent, ast.Call) and parent.func is node

    def is_dataclass(self, node: Any, parent: Any, outer: Any, _: Any) -> bool:
        """Whether it is a class's only decorator, with constants for arguments if any."""
        if isinstance(parent, ast.ClassDef):
            return parent.decorator_list == [node]
        plain = self.is_called(node, parent) and not parent.args and all(word.arg for word in parent.keywords)
        constants = plain and all(isinstance(word.value, ast.Constant) for word in parent.keywords)
        return constants and isinstance(outer, ast.ClassDef) and outer.decorator_list == [parent]

    def is_field(self, node: Any, parent: Any, outer: Any, owner: Any) -> bool:
        """Whether it is called for the value of an annotated name of a class with a decorator."""
        match outer:
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is parent:
                decorated = isinstance(owner, ast.ClassDef) and bool(owner.decorator_list)
                return decorated and self.is_called(node, parent) and name not in self._class_names
        return False

    def is_namedtuple(self, node: Any, parent: Any, *_: Any) -> bool:
        """Whether it is called with a name and fields that are written out."""
        if not self.is_called(node, parent) or len(parent.args) != 2:  # noqa: PLR2004
            return False
        parts = [part for argument in parent.args for part in ast.walk(argument)]
        written = all(isinstance(part, ast.Constant | ast.List | ast.Tuple | ast.Load) for part in parts)
        return written and all(word.arg == "defaults" for word in parent.keywords)

    def is_base(self, node: Any, parent: Any, *_: Any) -> bool:
        """Whether it is the one base of a class."""
        return isinstance(parent, ast.ClassDef) and parent.bases == [node]

    def is_silence(self, node: Any, parent: Any, outer: Any, _: Any) -> bool:
        """Whether it only keeps warnings quiet, which nobody would see."""
        match parent, outer:
            case ast.Call(args=[], keywords=words), ast.withitem(optional_vars=None) if parent.func is node:
                return all(
                    isinstance(word.value, ast.Constant) and word.value.value == "ignore" for word in words
                )
        return False

    def is_indexed(self, node: Any, parent: Any, *_: Any) -> bool:
        """Whether brackets stand behind it."""
        return isinstance(parent, ast.Subscript) and parent.value is node

    def is_read(self, node: Any, parent: Any, outer: Any, _: Any) -> bool:
        """Whether it is called, and of the result an attribute is read."""
        return self.is_called(node, parent) and isinstance(outer, ast.Attribute)

    def is_asked_for(self, node: Any, parent: Any, outer: Any, around: Any) -> bool:
        """Whether it is what isinstance asks for, what is caught, or compared by ``is``."""
        if isinstance(parent, ast.Tuple):
            return self.is_asked_for(parent, outer, around, None)
        match parent:
            case ast.Compare(ops=ops):
                return all(isinstance(op, ast.Is | ast.IsNot) for op in ops)
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
                return kinds is node
        return isinstance(parent, ast.ExceptHandler)

    def is_made(self, *around: Any) -> bool:
        """Whether it is called, or asked for."""
        return self.is_called(*around) or self.is_asked_for(*around)

    def is_type_compared(self, node: ast.Call) -> bool:
        """Whether ``type(x)`` is named, or compared so that nothing of the module's own answers."""
        if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
            return False
        match self._bindings.parents.get(node):
            case ast.Attribute(attr=name):
                return name == "__name__"
            case ast.Compare(left=left, ops=ops, comparators=others):
                by_identity = all(isinstance(op, ast.Is | ast.IsNot) for op in ops)
                return by_identity or all(self._is_type_of(side) for side in (left, *others))
        return False

    def _is_type_of(self, node: ast.AST) -> bool:
        match node:
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                return all(map(self._is_type_of, parts))
            case ast.Call(func=ast.Name(id="type")):
                return True
        return isinstance(self.builtin(node), type)

    def is_type(self, node: ast.AST) -> bool:
        """Whether an expression is a type of typing, numpy or Python."""
        return self._bindings.path(node) is not None or isinstance(self.builtin(node), type)

    def builtin(self, node: ast.AST) -> Any:
        """The builtin that a name stands for; None for a name of the module's own, and for other expressions."""
        if not isinstance(node, ast.Name) or {node.id} & {*self._bindings.rebound, *self._bindings.imports}:
            return None
        return getattr(builtins, node.id, None)


def is_plain_template(value: ast.AST) -> bool:
    """Whether ``"...".format`` is of a literal whose fields read neither attributes nor items."""
    try:
        fields = list(string.Formatter().parse(value.value))  # type: ignore[attr-defined]
    except (AttributeError, TypeError, ValueError):
        return False
    return all(
        not set(name or "") & set(".[") and not set(spec or "") & set("{}") for _, name, spec, _ in fields
    )


_MADE = Forms.is_made, "may only be called, or say what something is"
_INDEXED = Forms.is_indexed, "is no value; write what you want of it in brackets behind it"
_READ = Forms.is_read, "is no value; write what you want to know, as in np.finfo(float).eps"
_ASKED = Forms.is_asked_for, "may only say what type something has, in an annotation or in isinstance"
MEMBERS: dict[str, tuple[Callable[..., bool], str]] = {
    "dataclasses.dataclass": (
        Forms.is_dataclass,
        "may only stand above a class, with arguments that are written out",
    ),
    "dataclasses.field": (
        Forms.is_field,
        "may only be the value of an annotated field of a dataclass, such as x: list = field(...)",
    ),
    "collections.namedtuple": (
        Forms.is_namedtuple,
        'has its fields written out: Point = namedtuple("Point", ["x", "y"])',
    ),
    "typing.NamedTuple": (Forms.is_base, "may only be the base of a class, such as class Name(NamedTuple)"),
    "numpy.errstate": (
        Forms.is_silence,
        "is not available but in with np.errstate(divide='ignore'):; " + names.HINTS["errstate"],
    ),
    **dict.fromkeys(("collections.Counter", "numpy.linalg.LinAlgError", "random.Random"), _MADE),
    **dict.fromkeys(("numpy.ndenumerate", "numpy.ndindex"), _MADE),
    **dict.fromkeys([f"numpy.{name}" for name in ("c_", "mgrid", "ogrid", "r_", "s_")], _INDEXED),
    **dict.fromkeys(("numpy.finfo", "numpy.iinfo"), _READ),
    **dict.fromkeys(("numpy.ndarray", "numpy.dtype", "numpy.random.Generator"), _ASKED),
}
"""Whether what has a form of its own stands as it may, and how that is."""

RESTRICTED = MEMBERS.keys() | names.FORMS
"""What is never a value."""
