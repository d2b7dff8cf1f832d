"""Builtins that turn text into attributes or build classes, and the forms in which they may be written."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sandbox.gate import names
from sandbox.gate.attributes import TAKEN, hint, read_problem
from sandbox.gate.rule import NAMESPACES

if TYPE_CHECKING:
    from sandbox.gate.rule import Node, Rule
    from sandbox.gate.uses import UseReview


def _type(review: UseReview, node: Node, _path: str) -> str | None:
    if review.in_type(node):
        return None
    call = review.call_of(node)
    if call is None or len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
        return "type may only be called with one argument; write a class statement instead"
    parent = review.bindings.parents.get(call)
    if isinstance(parent, ast.Attribute):
        return None if parent.attr == "__name__" else "only __name__ of type(x) is available; name the class"
    if isinstance(parent, ast.FormattedValue | ast.Expr) or review.in_type(call):
        return None
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and call in parent.args:
        shown = parent.func.id in {"str", "repr", "print"} and parent.func.id not in review.bindings.rebound
        return None if shown and not _has_method(review, parent.func.id) else _TYPE_AS_VALUE
    return _TYPE_AS_VALUE


def _has_method(review: UseReview, name: str) -> bool:
    return any(isinstance(n, ast.FunctionDef) and n.name == name for n in ast.walk(review.tree))


_TYPE_AS_VALUE = (
    "type(x) may only be compared or named, as in type(x) is int or type(x).__name__; name the class"
)


def _lookup(review: UseReview, node: Node, path: str) -> str | None:
    """Getattr and hasattr, with the name written out."""
    call = review.call_of(node)
    if call is None or len(call.args) < 2 or call.keywords:  # noqa: PLR2004
        return f"{path} can only be called, with the attribute's name written out"
    name = call.args[1]
    space = review.path(call.args[0])
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        if path == "hasattr":
            return None
        if space in NAMESPACES:
            allowed = name.value in names.MODULES[space or ""] and not review.has_rule(
                f"{space}.{name.value}"
            )
            return None if allowed else f"{space}.{name.value} is not available to {path}"
        if name.value.startswith("__"):
            return f"the attribute {name.value} is not allowed{hint(name.value)}"
        return read_problem(name.value, review.defined | {name.value}, exceptions=review.exceptions)
    prefix = _literal_prefix(name)
    if space not in NAMESPACES and _begins_well(prefix):
        return None
    return (
        f"the name for {path} is written out, or begins so, as in {path}(self, f'mode_{{i}}'); or use a dict"
    )


def _setattr(review: UseReview, node: Node, path: str) -> str | None:
    call = review.call_of(node)
    if call is None or len(call.args) != 3 or call.keywords:  # noqa: PLR2004
        return f"{path} can only be called, with the attribute's name written out"
    target, name, _ = call.args
    if review.path(target) is not None or not isinstance(target, ast.Name):
        return f"{path} may only set attributes of your own objects, such as self"
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        if name.value.startswith("__"):
            return f"the attribute {name.value} is not allowed"
        return read_problem(name.value, review.defined | {name.value}, exceptions=review.exceptions)
    prefix = _literal_prefix(name)
    if _begins_well(prefix):
        return None
    if isinstance(name, ast.Name) and review.keys.is_key(name):
        return None
    return f"the name for {path} is written out, or is a key of PARAMS: for name in PARAMS: setattr(self, name, params[name])"


def _begins_well(prefix: str) -> bool:
    """Whether no attribute that leads out begins with this text."""
    long_enough = len(prefix) > 1 and not prefix.startswith("__")
    return long_enough and not any(taken.startswith(prefix) for taken in TAKEN | {"obj"})


def _literal_prefix(name: ast.AST) -> str:
    """The text that a computed text begins with, as far as it is written out."""
    if isinstance(name, ast.JoinedStr) and name.values:
        return _literal_prefix(name.values[0])
    if isinstance(name, ast.BinOp) and isinstance(name.op, ast.Add):
        return _literal_prefix(name.left)
    return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""


LOOKUPS = frozenset({"getattr", "hasattr"})
BUILTIN_RULES: dict[str, Rule] = {
    "type": _type,
    "getattr": _lookup,
    "hasattr": _lookup,
    "setattr": _setattr,
}
BUILTIN_RULES |= dict.fromkeys(("isinstance", "issubclass"), lambda _review, _node, _path: None)
