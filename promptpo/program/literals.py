"""The literals of a policy module that tuning may change: ``PARAMS``, ``TABLE`` and ``ACTIONS``.

They are read with `ast.literal_eval`, never by running the code, and rewritten in place, so that the
comments and the layout around them stay as their author wrote them.
"""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

Range = tuple[float, float, float]
"""Value, lower bound, upper bound."""

LINE_WIDTH = 100
SPREAD = 4.0
"""A parameter without bounds may become this many times smaller or larger."""


def read_params(source: str) -> dict[str, Range]:
    """The declared parameters of a policy.

    A bare number instead of (value, low, high) gets bounds of its own size; a value outside its bounds
    widens them. Entries that are not numbers are left out.

    Args:
        source: A policy module.

    Returns:
        Name to (value, low, high), in the order of the source; empty where nothing usable is declared.
    """
    return {name: range_ for name, (_, range_) in _params(source).items()}


def write_params(source: str, values: Mapping[str, float]) -> str:
    """The same source with other parameter values; bounds, comments and layout stay.

    Args:
        source: A policy module.
        values: Name to new value; names that the source does not declare are ignored. Six significant
            digits are kept.
    """
    edits = [
        (node, repr(rounded(values[name])))
        for name, (node, _) in _params(source).items()
        if name in values and math.isfinite(values[name])
    ]
    return replace_nodes(source, edits)


def read_table(source: str) -> dict[Hashable, Any] | None:
    """The top-level ``TABLE`` literal, from observation key to action; None where there is none."""
    node = _assigned(source, "TABLE")
    if not isinstance(node, ast.Dict):
        return None
    try:
        table = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return dict(table)


def write_table(source: str, table: Mapping[Any, Any]) -> str:
    """The same source with another ``TABLE``, several entries to a line."""
    node = _assigned(source, "TABLE")
    return source if node is None else replace_nodes(source, [(node, format_table(table))])


def read_actions(source: str) -> tuple[Any, ...]:
    """What a table may choose from: the ``ACTIONS`` literal, or else the values the table has."""
    node = _assigned(source, "ACTIONS")
    try:
        actions = () if node is None else tuple(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        actions = ()
    if not actions:
        actions = tuple(dict.fromkeys((read_table(source) or {}).values()))
    return actions


def read_number(source: str, name: str, default: float) -> float:
    """A top-level number, or a default where it is missing or no number."""
    node = _assigned(source, name)
    try:
        return default if node is None else float(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, OverflowError):
        return default


def rounded(value: float) -> float:
    """A value as it is written into a source: six significant digits."""
    return float(f"{value:.6g}")


def format_table(table: Mapping[Any, Any]) -> str:
    """A dict literal with as many entries on a line as fit."""
    lines, line = [], "   "
    for key, value in table.items():
        entry = f" {key!r}: {value!r},"
        if len(line) + len(entry) > LINE_WIDTH:
            lines.append(line)
            line = "   "
        line += entry
    return "\n".join(["{", *lines, line, "}"]) if table else "{}"


def replace_nodes(source: str, edits: Iterable[tuple[ast.expr, str]]) -> str:
    """Replace the text of some expressions; `ast` counts columns in UTF-8 bytes, and so does this."""
    lines = source.encode().split(b"\n")
    for node, text in sorted(edits, key=lambda edit: (edit[0].lineno, edit[0].col_offset), reverse=True):
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        tail = lines[last][node.end_col_offset or 0 :]
        lines[first : last + 1] = [lines[first][: node.col_offset] + text.encode() + tail]
    return b"\n".join(lines).decode()


def parse(source: str) -> ast.Module | None:
    """The syntax tree, or None for text that is not Python."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _params(source: str) -> dict[str, tuple[ast.expr, Range]]:
    """Name to the node that holds its value, and its range."""
    node = _assigned(source, "PARAMS")
    if not isinstance(node, ast.Dict):
        return {}
    found: dict[str, tuple[ast.expr, Range]] = {}
    for key, item in zip(node.keys, node.values, strict=True):
        if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
            continue
        range_ = _range(item)
        if range_ is not None:
            value_node = item.elts[0] if isinstance(item, ast.Tuple | ast.List) else item
            found[key.value] = (value_node, range_)
    return found


def _range(node: ast.expr) -> Range | None:
    try:
        literal = ast.literal_eval(node)
        numbers = [float(n) for n in (literal if isinstance(literal, tuple | list) else [literal])]
    except (ValueError, TypeError, SyntaxError, OverflowError):
        return None
    if len(numbers) not in {1, 3} or not all(map(math.isfinite, numbers)):
        return None
    value = numbers[0]
    low, high = sorted(numbers[1:]) if len(numbers) > 1 else default_bounds(value)
    return value, min(low, value), max(high, value)


def default_bounds(value: float) -> tuple[float, float]:
    """Bounds for a number that came without: the same sign, up to `SPREAD` times smaller or larger."""
    if value == 0.0:
        return -1.0, 1.0
    low, high = sorted((rounded(value / SPREAD), rounded(value * SPREAD)))
    return low, high


def _assigned(source: str, name: str) -> ast.expr | None:
    """The expression last assigned to a top-level name."""
    tree = parse(source)
    found: ast.expr | None = None
    for statement in tree.body if tree else ():
        if isinstance(statement, ast.Assign):
            targets: list[ast.expr] = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        else:
            continue
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            found = statement.value
    return found
