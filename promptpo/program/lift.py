"""Turning the numbers in a policy's code into ``PARAMS``, and back.

Lifted are float literals inside the methods of ``Policy``: gains, thresholds and limits. Integers stay
(they are mostly indices, sizes and counts), and so do 0.0, 1.0 and -1.0, exponents, subscripts, default
values and the arguments of keywords such as ``dtype``: there a number is part of the structure.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from promptpo.program.literals import default_bounds, parse, read_params, replace_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

HOLDER = "lifted"
"""The attribute of ``self`` that holds the lifted numbers."""

STRUCTURAL = frozenset({0.0, 1.0})
MOST = 60


def lift_constants(source: str) -> str:
    """The same policy with its float literals as ``PARAMS``, each with bounds of its own size.

    Args:
        source: A policy module.

    Returns:
        The source as it is where it already declares ``PARAMS``, has no ``Policy`` class, or has
        nothing to lift; `unlift_constants` is the inverse.
    """
    tree = parse(source)
    policy = _policy(tree)
    if tree is None or policy is None or read_params(source):
        return source
    literals = [
        (node, method.name)
        for method in policy.body
        if isinstance(method, ast.FunctionDef) and _is_plain_method(method)
        for node in _floats(method.body)
    ][:MOST]
    if not literals:
        return source
    names = [f"{method.strip('_')}_{i}" for i, (_, method) in enumerate(literals)]
    edits = [(node, f'self.{HOLDER}["{name}"]') for name, (node, _) in zip(names, literals, strict=True)]
    lines = replace_nodes(source, edits).split("\n")
    _hand_over_params(lines, policy)
    table = ["PARAMS = {"]
    for name, (node, _) in zip(names, literals, strict=True):
        low, high = default_bounds(_number(node))
        table.append(f'    "{name}": ({node.value!r}, {low!r}, {high!r}),')
    at = _start_line(policy) - 1
    return "\n".join([*lines[:at], *table, "}", "", "", *lines[at:]])


def unlift_constants(source: str) -> str:
    """Put the values of lifted ``PARAMS`` back into the code, as plain literals."""
    tree = parse(source)
    policy = _policy(tree)
    params = read_params(source)
    if tree is None or policy is None or f"self.{HOLDER}[" not in source:
        return source
    edits: list[tuple[ast.expr, str]] = []
    for node in ast.walk(policy):
        if (
            isinstance(node, ast.Subscript)
            and _is_holder(node.value)
            and isinstance(node.slice, ast.Constant)
        ):
            value = params[str(node.slice.value)][0]
            edits.append((node, repr(value) if value >= 0 else f"({value!r})"))
    lines = replace_nodes(source, edits).split("\n")
    init = _method(policy, "__init__")
    if init is not None:
        _take_params_back(lines, init)
    table = next(
        node
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "PARAMS"
    )
    first, last = table.lineno - 1, table.end_lineno or table.lineno
    while last < len(lines) and not lines[last].strip():
        last += 1
    return "\n".join(line for i, line in enumerate(lines) if not first <= i < last and line != _GONE)


_GONE = "\0"
"""Marks a line to be dropped, so that line numbers stay valid until the end."""


def _hand_over_params(lines: list[str], policy: ast.ClassDef) -> None:
    """Make ``__init__`` keep its parameters, in place."""
    init = _method(policy, "__init__")
    if init is None:
        body = policy.body[0]
        first = policy.body[1] if _is_docstring(body) and len(policy.body) > 1 else body
        indent = " " * first.col_offset
        added = f"{indent}def __init__(self, params):\n{indent}    self.{HOLDER} = params\n"
        lines.insert(_start_line(first) - 1, added)
        return
    first_statement = init.body[0]
    header = range(init.lineno - 1, first_statement.lineno)
    for i in header:
        if "(self" in lines[i] and "params" not in lines[i]:
            lines[i] = lines[i].replace("(self", "(self, params", 1)
            break
    line = first_statement.lineno - 1
    lines[line] = f"{' ' * first_statement.col_offset}self.{HOLDER} = params\n{lines[line]}"


def _take_params_back(lines: list[str], init: ast.FunctionDef) -> None:
    """The inverse of `_hand_over_params`, in place."""
    kept = next(
        (s for s in init.body if isinstance(s, ast.Assign) and _is_holder(s.targets[0])),
        None,
    )
    if kept is None:
        return
    if len(init.body) == 1:
        blank = kept.lineno < len(lines) and not lines[kept.lineno].strip()
        for i in range(init.lineno - 1, kept.lineno + blank):
            lines[i] = _GONE
        return
    lines[kept.lineno - 1] = _GONE
    for i in range(init.lineno - 1, kept.lineno - 1):
        lines[i] = lines[i].replace("(self, params", "(self", 1)


def _policy(tree: ast.Module | None) -> ast.ClassDef | None:
    classes = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Policy"] if tree else []
    return classes[-1] if classes else None


def _method(policy: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    return next((n for n in policy.body if isinstance(n, ast.FunctionDef) and n.name == name), None)


def _is_plain_method(method: ast.FunctionDef) -> bool:
    """Whether ``self`` is at hand in a method, and its body is on lines of its own."""
    args = method.args.args
    return bool(args) and args[0].arg == "self" and method.body[0].lineno > method.lineno


def _start_line(node: ast.stmt) -> int:
    decorated = node.decorator_list if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorated)])


def _is_docstring(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _is_holder(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == HOLDER
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def _number(node: ast.Constant) -> float:
    """The value of a float literal."""
    return node.value if isinstance(node.value, float) else 0.0


def _floats(body: list[ast.stmt]) -> Iterator[ast.Constant]:
    """Float literals in statements, in source order, without those that are structure."""
    for statement in body:
        yield from _floats_in(statement)


def _floats_in(node: ast.AST) -> Iterator[ast.Constant]:
    if isinstance(node, ast.Constant):
        if type(node.value) is float and node.value not in STRUCTURAL and abs(node.value) < float("inf"):
            yield node
        return
    if isinstance(node, ast.Subscript):
        yield from _floats_in(node.value)
        return
    if isinstance(node, ast.keyword | ast.FunctionDef | ast.Lambda | ast.JoinedStr):
        return
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        yield from _floats_in(node.left)
        return
    for child in ast.iter_child_nodes(node):
        yield from _floats_in(child)
