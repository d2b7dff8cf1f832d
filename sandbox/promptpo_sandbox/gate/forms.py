"""Names allowed in certain forms only and never as values: they build classes or memory, or could be patched."""

from __future__ import annotations

import ast
import builtins
import string
from typing import Any

from promptpo_sandbox.gate import names
from promptpo_sandbox.gate.bindings import Bindings


class Forms:
    """Decides whether expressions stand where they may, by bindings and by names that some class body both binds and reads."""

    def __init__(self, bindings: Bindings, class_names: set[str]) -> None:
        self._bindings, self._class_names = bindings, class_names

    def problem(self, node: ast.AST, path: str) -> str | None:
        """Return why a member of a library may not stand where it does; None if it may."""
        rule, form = MEMBERS.get(path, ("", ""))
        stands = not rule or getattr(self, f"_is_{rule}")(*self._surroundings(node))
        return None if stands else f"{path} {form}"

    def _surroundings(self, node: ast.AST) -> tuple[Any, Any, Any, Any]:
        """Return a node with its parent, grandparent and great-grandparent."""
        parents = self._bindings.parents
        parent = parents.get(node)
        outer = parents.get(parent) if parent else None
        return node, parent, outer, parents.get(outer) if outer else None

    def is_called(self, node: Any, parent: Any, *_: Any) -> bool:
        """Whether a node is the function of a call."""
        return isinstance(parent, ast.Call) and parent.func is node

    def _is_dataclass(self, node: Any, parent: Any, outer: Any, _: Any) -> bool:
        if isinstance(parent, ast.ClassDef):
            return parent.decorator_list == [node]
        plain = self.is_called(node, parent) and not parent.args and all(word.arg for word in parent.keywords)
        constants = plain and all(isinstance(word.value, ast.Constant) for word in parent.keywords)
        return constants and isinstance(outer, ast.ClassDef) and outer.decorator_list == [parent]

    def _is_field(self, node: Any, parent: Any, outer: Any, owner: Any) -> bool:
        match outer:
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is parent:
                decorated = isinstance(owner, ast.ClassDef) and bool(owner.decorator_list)
                return decorated and self.is_called(node, parent) and name not in self._class_names
        return False

    def _is_namedtuple(self, node: Any, parent: Any, *_: Any) -> bool:
        if not self.is_called(node, parent) or len(parent.args) != 2:  # noqa: PLR2004
            return False
        parts = [part for argument in parent.args for part in ast.walk(argument)]
        written = all(isinstance(part, ast.Constant | ast.List | ast.Tuple | ast.Load) for part in parts)
        return written and all(word.arg == "defaults" for word in parent.keywords)

    def _is_base(self, node: Any, parent: Any, *_: Any) -> bool:
        return isinstance(parent, ast.ClassDef) and parent.bases == [node]

    def _is_indexed(self, node: Any, parent: Any, *_: Any) -> bool:
        return isinstance(parent, ast.Subscript) and parent.value is node

    def _is_read(self, node: Any, parent: Any, outer: Any, _: Any) -> bool:
        return self.is_called(node, parent) and isinstance(outer, ast.Attribute)

    def _is_silence(self, node: Any, parent: Any, outer: Any, _: Any) -> bool:
        match parent, outer:
            case ast.Call(args=[], keywords=words), ast.withitem(optional_vars=None) if parent.func is node:
                return all(
                    isinstance(word.value, ast.Constant) and word.value.value == "ignore" for word in words
                )
        return False

    def _is_asked_for(self, node: Any, parent: Any, outer: Any, around: Any) -> bool:
        if isinstance(parent, ast.Tuple):
            return self._is_asked_for(parent, outer, around, None)
        match parent:
            case ast.Compare(ops=ops):
                return all(isinstance(op, ast.Is | ast.IsNot) for op in ops)
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
                return kinds is node
        return isinstance(parent, ast.ExceptHandler)

    def _is_made(self, *around: Any) -> bool:
        return self.is_called(*around) or self._is_asked_for(*around)

    def is_type_compared(self, node: ast.Call) -> bool:
        """Whether ``type(x)`` is named, or compared so that no code of the module's own decides."""
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
        """Return the builtin that a name stands for; None for names that the module binds, and for other expressions."""
        if not isinstance(node, ast.Name) or {node.id} & {*self._bindings.rebound, *self._bindings.imports}:
            return None
        return getattr(builtins, node.id, None)


def is_plain_template(value: ast.AST) -> bool:
    """Whether the object of ``.format`` is a literal whose fields read neither attributes nor items."""
    try:
        fields = list(string.Formatter().parse(value.value))  # type: ignore[attr-defined]
    except (AttributeError, TypeError, ValueError):
        return False
    return all(
        not set(name or "") & set(".[") and not set(spec or "") & set("{}") for _, name, spec, _ in fields
    )


CALLED = (
    "collections.Counter",
    "numpy.linalg.LinAlgError",
    "numpy.ndenumerate",
    "numpy.ndindex",
    "random.Random",
)
"""Classes that could be patched, and so may only be called or say what something is."""

_MADE = "made", "may only be called, or say what something is"
_INDEXED = "indexed", "is no value; write what you want of it in brackets behind it"
_READ = "read", "is no value; write what you want to know, as in np.finfo(float).eps"
_ASKED = "asked_for", "may only say what type something has, in an annotation or in isinstance"
_FIELD = "may only be the value of an annotated field of a dataclass, such as x: list = field(...)"
_SILENT = "is not available but in with np.errstate(divide='ignore'):; " + names.HINTS["errstate"]
MEMBERS: dict[str, tuple[str, str]] = {
    "dataclasses.dataclass": (
        "dataclass",
        "may only stand above a class, with arguments that are written out",
    ),
    "dataclasses.field": ("field", _FIELD),
    "collections.namedtuple": (
        "namedtuple",
        'has its fields written out: Point = namedtuple("Point", ["x", "y"])',
    ),
    "typing.NamedTuple": ("base", "may only be the base of a class, such as class Name(NamedTuple)"),
    "numpy.errstate": ("silence", _SILENT),
    **dict.fromkeys(CALLED, _MADE),
    **dict.fromkeys([f"numpy.{name}" for name in ("c_", "mgrid", "ogrid", "r_", "s_")], _INDEXED),
    **dict.fromkeys(("numpy.finfo", "numpy.iinfo"), _READ),
    **dict.fromkeys(("numpy.ndarray", "numpy.dtype", "numpy.random.Generator"), _ASKED),
}
"""The rule for each member that is allowed in one form only, and a description of that form."""

RESTRICTED = MEMBERS.keys() | names.FORMS
"""Names that are never values."""
