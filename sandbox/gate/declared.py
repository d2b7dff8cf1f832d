"""Arrays in PARAMS that nobody could read, told before the policy fails for want of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sandbox.arrays import MOST_NUMBERS, is_meant_as_array, read_array

_WAY = (
    "write (np.zeros((2, 3)), low, high), or np.ones, np.full, np.array or nested lists of numbers, all rows as long, "
    f"of at most {MOST_NUMBERS} numbers"
)


def array_problems(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and reason of each entry (array, low, high) whose array is not written out, or too large."""
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        named = any(isinstance(target, ast.Name) and target.id == "PARAMS" for target in targets)
        if not named or not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Dict):
            continue
        for key, item in zip(statement.value.keys, statement.value.values, strict=True):
            if isinstance(key, ast.Constant) and _is_unread(item):
                yield item.lineno, f"the array {key.value!r} in PARAMS cannot be read: {_WAY}"


def _is_unread(item: ast.expr) -> bool:
    if not isinstance(item, ast.Tuple | ast.List) or len(item.elts) != 3:  # noqa: PLR2004 - value, low, high
        return False
    value, *bounds = item.elts
    return all(map(_is_number, bounds)) and is_meant_as_array(value) and read_array(value) is None


def _is_number(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant) and isinstance(inner.value, int | float)
