"""Replacing constants in a syntax tree by their values, and dropping branches that they rule out."""

from __future__ import annotations

import ast
import copy
import operator
import re
from typing import TYPE_CHECKING, Any

from promptpo.spec.source import literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from promptpo.spec.source import Function, Method, Source

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}


def folded(method: Method, source: Source) -> Function:
    """A copy of a method with its constants resolved.

    ``self.weight`` and module constants such as ``SCALE`` become numbers; conditions that are then
    decided disappear together with the branch that can never run.
    """
    local = {arg.arg for arg in ast.walk(method.node.args) if isinstance(arg, ast.arg)}
    local |= {n.id for n in ast.walk(method.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    result = _Folder(source, vars(method.module), local).visit(copy.deepcopy(method.node))
    if not isinstance(result, ast.FunctionDef):  # the folder keeps the kind of the outermost node
        raise TypeError(result)
    return ast.fix_missing_locations(result)


def _known(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and not isinstance(node.value, str | bytes)


class _Folder(ast.NodeTransformer):
    """See `folded`."""

    def __init__(self, source: Source, module: dict[str, Any], local: set[str]) -> None:
        self._source, self._module, self._local = source, module, local

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name) and node.value.id == "self":
            return self._constant(node, lambda: _no_table(self._source.constant(node.attr)))
        if isinstance(node.ctx, ast.Load) and node.attr.isupper() and isinstance(node.value, ast.Name):
            return self._constant(node, lambda: _no_table(self._source.constant(node.attr)))
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if isinstance(node.ctx, ast.Load) and node.id not in self._local and node.id.isupper():
            return self._constant(node, lambda: literal(self._module[node.id]))
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        visited = self.generic_visit(node)
        if isinstance(visited, ast.Subscript) and isinstance(visited.ctx, ast.Load):
            return self._constant(visited, lambda: literal(self._value(visited.value)[_index(visited)]))
        return visited

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """``self.settings.get(name, 0)`` looks a weight up: the table is written out with its weights only."""
        visited = self.generic_visit(node)
        if (
            isinstance(visited, ast.Call)
            and isinstance(visited.func, ast.Attribute)
            and visited.func.attr == "get"
        ):
            attribute = visited.func
            attribute.value = self._constant(attribute.value, lambda: _weights(self._value(attribute.value)))  # type: ignore[assignment]
        return visited

    def _value(self, node: ast.expr) -> Any:
        """The value of an expression that is a literal or a constant attribute."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            return self._source.constant(node.attr)
        return ast.literal_eval(node)

    def visit_If(self, node: ast.If) -> Any:
        test = self.visit(node.test)
        if _known(test):
            chosen = node.body if test.value else node.orelse
            kept: list[ast.stmt] = []
            for statement in chosen:
                visited = self.visit(statement)
                kept.extend(visited if isinstance(visited, list) else [visited] if visited else [])
            return kept
        return self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        visited = self.generic_visit(node)
        if isinstance(visited, ast.IfExp) and _known(visited.test):
            return visited.body if visited.test.value else visited.orelse  # type: ignore[attr-defined]
        return visited

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        visited = self.generic_visit(node)
        if isinstance(visited, ast.UnaryOp) and isinstance(visited.op, ast.Not) and _known(visited.operand):
            return ast.Constant(not visited.operand.value)  # type: ignore[attr-defined]
        return visited

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        visited = self.generic_visit(node)
        if not isinstance(visited, ast.BoolOp):
            return visited
        decides = isinstance(visited.op, ast.Or)  # True decides an "or", False an "and"
        kept: list[ast.expr] = []
        for value in visited.values:
            if _known(value):
                if bool(value.value) is decides:  # type: ignore[attr-defined]
                    kept.append(value)
                    break
                continue
            kept.append(value)
        if not kept:
            return ast.Constant(not decides)
        return kept[0] if len(kept) == 1 else ast.BoolOp(visited.op, kept)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        visited = self.generic_visit(node)
        if not isinstance(visited, ast.Compare) or len(visited.ops) != 1:
            return visited
        given = isinstance(visited.left, ast.Name) and visited.left.id == "action"
        if given and ast.unparse(visited.comparators[0]) == "None":  # a policy's action is never missing
            return ast.Constant(isinstance(visited.ops[0], ast.IsNot))
        compare = _COMPARE.get(type(visited.ops[0]))
        if compare is None:
            return visited
        return self._constant(
            visited,
            lambda: compare(ast.literal_eval(visited.left), ast.literal_eval(visited.comparators[0])),
        )

    @staticmethod
    def _constant(node: ast.AST, value: Callable[[], Any]) -> ast.AST:
        try:
            text = re.sub(r"\binf\b", "np.inf", repr(value()))
        except (LookupError, ValueError, TypeError):
            return node
        return ast.parse(text, mode="eval").body


def _index(node: ast.Subscript) -> Any:
    return ast.literal_eval(node.slice)


def _no_table(value: Any) -> Any:
    """The value, unless it is a table: only the entries that are used belong into a text."""
    if isinstance(value, dict):
        raise LookupError("a table")  # noqa: TRY004 - it is looked up, not typed, wrongly
    return value


def _weights(value: Any) -> Any:
    if not isinstance(value, dict):
        raise LookupError("no table")  # noqa: TRY004 - it is looked up, not typed, wrongly
    return {k: v for k, v in value.items() if REWARDING.search(str(k)) and type(v) in {int, float} and v}


REWARDING = re.compile(r"reward|shaping|score|cost|bonus|penalty|return", re.IGNORECASE)
"""Names of things that are a part of the reward."""
