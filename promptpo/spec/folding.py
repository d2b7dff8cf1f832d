"""Replacing constants in a syntax tree by their values, and dropping branches that they rule out."""

from __future__ import annotations

import ast
import copy
import operator
import re
from typing import TYPE_CHECKING, Any, cast

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
        own = isinstance(node.value, ast.Name) and (node.value.id == "self" or node.attr.isupper())
        if isinstance(node.ctx, ast.Load) and own:
            return self._constant(node, lambda: _no_table(self._source.constant(node.attr)))
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if isinstance(node.ctx, ast.Load) and node.id not in self._local and node.id.isupper():
            return self._constant(node, lambda: literal(self._module[node.id]))
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        visited = self.generic_visit(node)
        if isinstance(visited, ast.Subscript) and isinstance(visited.ctx, ast.Load):
            return self._constant(
                visited, lambda: literal(self._value(visited.value)[ast.literal_eval(visited.slice)])
            )
        return visited

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """``self.weights.get("name", 0)`` looks a constant up; for a name that varies the weights are written out."""
        visited = self.generic_visit(node)
        if not isinstance(visited, ast.Call) or not isinstance(visited.func, ast.Attribute):
            return visited
        table, keys = visited.func.value, visited.args
        if visited.func.attr != "get" or not keys:
            return visited
        visited.func.value = self._constant(table, lambda: _weights(self._value(table)))  # type: ignore[assignment]
        return self._constant(
            visited, lambda: literal(_table(self._value(table)).get(*map(ast.literal_eval, keys)))
        )

    def _value(self, node: ast.expr) -> Any:
        """The value of an expression that is a literal or a constant attribute."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            return self._source.constant(node.attr)
        return ast.literal_eval(node)

    def visit_If(self, node: ast.If) -> Any:
        test = self.visit(node.test)
        if not _known(test):
            return self.generic_visit(node)
        kept: list[ast.stmt] = []
        for statement in node.body if test.value else node.orelse:
            visited = self.visit(statement)
            kept.extend(visited if isinstance(visited, list) else [visited] if visited else [])
        return kept

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        visited: Any = self.generic_visit(node)
        if not _known(visited.test):
            return cast("ast.AST", visited)
        return cast("ast.AST", visited.body if visited.test.value else visited.orelse)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        visited: Any = self.generic_visit(node)
        if isinstance(visited.op, ast.Not) and _known(visited.operand):
            return ast.Constant(not visited.operand.value)
        return cast("ast.AST", visited)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        visited: Any = self.generic_visit(node)
        decides = isinstance(visited.op, ast.Or)  # True decides an "or", False an "and"
        kept: list[ast.expr] = []
        for value in visited.values:
            if not _known(value):
                kept.append(value)
            elif bool(value.value) is decides:
                kept.append(value)
                break
        if len(kept) > 1:
            return ast.BoolOp(visited.op, kept)
        return kept[0] if kept else ast.Constant(not decides)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        visited: Any = self.generic_visit(node)
        compare, left, right = _COMPARE.get(type(visited.ops[0])), visited.left, visited.comparators[0]
        if len(visited.ops) != 1 or compare is None:
            return cast("ast.AST", visited)
        if (
            ast.unparse(left) == "action" and ast.unparse(right) == "None"
        ):  # a policy's action is never missing
            return ast.Constant(isinstance(visited.ops[0], ast.IsNot))
        return self._constant(visited, lambda: compare(ast.literal_eval(left), ast.literal_eval(right)))

    @staticmethod
    def _constant(node: ast.AST, value: Callable[[], Any]) -> ast.AST:
        try:
            text = re.sub(r"\binf\b", "np.inf", repr(value()))
        except (LookupError, ValueError, TypeError):
            return node
        return ast.parse(text, mode="eval").body


def _no_table(value: Any) -> Any:
    """The value, unless it is a table: only the entries that are used belong into a text."""
    if isinstance(value, dict):
        raise LookupError("a table")  # noqa: TRY004 - it is looked up, not typed, wrongly
    return value


def _table(value: Any) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise LookupError("no table")  # noqa: TRY004 - it is looked up, not typed, wrongly
    return value


def _weights(value: Any) -> Any:
    """The entries of a table that are part of a reward: which of them a loop looks up is not known."""
    found = {
        key: n
        for key, n in _table(value).items()
        if REWARDING.search(str(key)) and type(n) in {int, float} and n
    }
    return found or _no_table(value)


REWARDING = re.compile(r"reward|shaping|score|cost|bonus|penalty|return", re.IGNORECASE)
"""Names of things that are a part of the reward."""
