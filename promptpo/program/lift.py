"""Turning the numbers in a policy's code into ``PARAMS``, and back.

Lifted are float literals inside the methods of ``Policy``: gains, thresholds and limits. Integers stay
(they are mostly indices, sizes and counts), and so do 0.0, 1.0 and -1.0, exponents, subscripts, patterns,
default values and the arguments of keywords such as ``dtype``: there a number is part of the structure.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from promptpo.program.classes import find_method, takes_more
from promptpo.program.literals import default_bounds, params_in
from promptpo.program.tree import assigned, docstring_of, replace_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

HOLDER = "lifted"
"""The attribute of ``self`` that holds the lifted numbers."""

STRUCTURAL = frozenset({0.0, 1.0})
MOST = 60

OWN_WAYS = frozenset({"__slots__", "__new__", "__setattr__", "__getattr__", "__getattribute__"})
"""A class with one of these may not let an attribute be added as others do."""


def lift_constants(source: str, tree: ast.Module | None) -> str:
    """The same policy with its float literals as ``PARAMS``, each with bounds of its own size.

    Args:
        source: A policy module.
        tree: Its syntax tree.

    Returns:
        The source as it is where it already declares ``PARAMS``, has no ``Policy`` class that a
        constructor can be given to, or has nothing to lift; `unlift_constants` is the inverse.
    """
    policy = _policy(tree)
    if tree is None or policy is None or assigned(tree, "PARAMS") or not _is_open(policy):
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
    _hand_over_params(lines, tree, policy)
    table = ["PARAMS = {"]
    for name, (node, _) in zip(names, literals, strict=True):
        low, high = default_bounds(_number(node))
        table.append(f'    "{name}": ({node.value!r}, {low!r}, {high!r}),')
    at = _start_line(policy) - 1
    return "\n".join([*lines[:at], *table, "}", "", "", *lines[at:]])


def unlift_constants(source: str, tree: ast.Module | None) -> str:
    """Put the values of lifted ``PARAMS`` back into the code, as plain literals."""
    policy = _policy(tree)
    params = params_in(tree)
    if tree is None or policy is None or not params or f"self.{HOLDER}[" not in source:
        return source
    edits: list[tuple[ast.expr, str]] = []
    for node in ast.walk(policy):
        if (
            isinstance(node, ast.Subscript)
            and _is_holder(node.value)
            and isinstance(node.slice, ast.Constant)
            and node.slice.value in params
        ):
            value = params[node.slice.value][0]
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


def _hand_over_params(lines: list[str], tree: ast.Module, policy: ast.ClassDef) -> None:
    """Make ``__init__`` keep its parameters, in place; one that is inherited is still called."""
    init = _method(policy, "__init__")
    if init is None:
        docstring = docstring_of(policy)
        first = policy.body[1] if docstring and len(policy.body) > 1 else policy.body[0]
        indent = " " * first.col_offset
        added = f"{indent}def __init__(self, params):\n{indent}    self.{HOLDER} = params\n"
        inherited = find_method(tree, policy, "__init__")
        if inherited is not False:
            given = "params" if isinstance(inherited, ast.FunctionDef) and takes_more(inherited) else ""
            added += f"{indent}    {_SUPER}({given})\n"
        lines.insert(_start_line(first) - 1, added)
        return
    first_statement = init.body[0]
    given = "params"
    if takes_more(init):
        arguments = [*init.args.posonlyargs, *init.args.args]
        given = f"{{**{arguments[1].arg}}}" if len(arguments) > 1 else ""  # so that the argument stays
    else:
        for i in range(init.lineno - 1, first_statement.lineno):
            if "(self" in lines[i]:
                lines[i] = lines[i].replace("(self", "(self, params", 1)
                break
    line = first_statement.lineno - 1
    lines[line] = f"{' ' * first_statement.col_offset}self.{HOLDER} = {given}\n{lines[line]}"


_SUPER = "super().__init__"


def _take_params_back(lines: list[str], init: ast.FunctionDef) -> None:
    """The inverse of `_hand_over_params`, in place."""
    kept = next(
        (s for s in init.body if isinstance(s, ast.Assign) and _is_holder(s.targets[0])),
        None,
    )
    if kept is None:
        return
    rest = [statement for statement in init.body if statement is not kept]
    last = rest[-1].lineno if rest else kept.lineno
    if not rest or (len(rest) == 1 and lines[last - 1].strip() in {f"{_SUPER}()", f"{_SUPER}(params)"}):
        blank = last < len(lines) and not lines[last].strip()
        for i in range(init.lineno - 1, last + blank):
            lines[i] = _GONE
        return
    lines[kept.lineno - 1] = _GONE
    if isinstance(kept.value, ast.Name):
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


def _is_open(policy: ast.ClassDef) -> bool:
    """Whether an attribute and a constructor can be added to the class without changing what it does."""
    names = {n.name for n in policy.body if isinstance(n, ast.FunctionDef)} | {
        n.id for n in ast.walk(policy) if isinstance(n, ast.Name)
    }
    attributes = {n.attr for n in ast.walk(policy) if isinstance(n, ast.Attribute)}
    return not (policy.decorator_list or policy.keywords or names & OWN_WAYS or HOLDER in attributes)


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
    if isinstance(node, ast.keyword | ast.FunctionDef | ast.Lambda | ast.JoinedStr | ast.pattern):
        return
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        yield from _floats_in(node.left)
        return
    for child in ast.iter_child_nodes(node):
        yield from _floats_in(child)
