"""Entries of PARAMS that cannot be read, reported before the policy fails for lack of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from promptpo_sandbox.arrays import MOST_NUMBERS, is_meant_as_array, read_array
from promptpo_sandbox.entries import MOST_IN_ALL, TRIPLE, Constants, Entry, entries_of

_WAY = (
    "write (np.zeros((2, 3)), low, high), or np.ones, np.full, np.array or nested lists of numbers, all rows as long, "
    f"of at most {MOST_NUMBERS} numbers"
)
MOST_SAID = 60
"""Maximum number of characters quoted from an expression."""

_OUT = "write it out: (1.5, 0.0, 5.0), or (np.zeros((2, 3)), -1.0, 1.0) for an array"


def params_problems(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and reason for each entry of PARAMS that the policy's constructor uses and the source does not reveal."""
    constants = Constants(tree)
    entries, unread = entries_of(constants)
    asked = _find_requested_keys(tree)
    missing = asked - {entry.name for entry in entries}
    numbers = 0
    for entry in entries:
        size = constants.size(entry)
        numbers += size
        if numbers > MOST_IN_ALL:
            yield entry.node.lineno, f"PARAMS has too many numbers; declare at most {MOST_IN_ALL} in all"
            return
        if _is_unread_array(entry, constants):
            yield entry.node.lineno, f"the array {entry.name!r} in PARAMS cannot be read: {_WAY}"
        elif entry.name in asked and not size:
            quoted = _text(entry.node)
            yield (
                entry.node.lineno,
                f"the entry {entry.name!r} in PARAMS cannot be read without running the program ({quoted}): {_OUT}",
            )
    for node in unread if missing else ():
        names = ", ".join(sorted(map(repr, missing - {""}))) or "what the policy asks for"
        yield (
            node.lineno,
            f'what PARAMS gets from {_text(node)} cannot be read without running the program: write {names} as "name": (value, low, high)',
        )


def _text(node: ast.expr) -> str:
    """Return the beginning of an expression's source."""
    try:
        return ast.unparse(node)[:MOST_SAID]
    except (ValueError, RecursionError):  # integers beyond Python's limit of digits, say
        return "..."


def _find_requested_keys(tree: ast.Module) -> set[str]:
    """Return the keys that the constructor of Policy reads from its parameters; empty text stands for a computed one."""
    found: set[str] = set()
    for owner in tree.body:
        for method in owner.body if isinstance(owner, ast.ClassDef) and owner.name == "Policy" else ():
            match method:
                case ast.FunctionDef("__init__", ast.arguments(args=[_, ast.arg(params), *_])):
                    found.update(_keys_read(method, params))
    return found


def _keys_read(method: ast.FunctionDef, params: str) -> Iterator[str]:
    for node in ast.walk(method):
        match node:
            case ast.Subscript(ast.Name(name), key, ast.Load()) if name == params:
                yield str(key.value) if isinstance(key, ast.Constant) else ""


def _is_unread_array(entry: Entry, constants: Constants) -> bool:
    item = entry.value
    if not isinstance(item, ast.Tuple | ast.List) or len(item.elts) != TRIPLE:
        return False
    value, *bounds = item.elts
    value = constants.resolve(value)
    return all(map(_is_number, bounds)) and is_meant_as_array(value) and read_array(value) is None


def _is_number(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant) and isinstance(inner.value, int | float)
