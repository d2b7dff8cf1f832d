"""The literals of a policy module that tuning may change: ``PARAMS``, ``TABLE`` and ``ACTIONS``.

They are read with `ast.literal_eval`, never by running the code, and rewritten in place, so that the
comments and the layout around them stay as their author wrote them.
"""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Any

from promptpo.program.tree import assigned, literal

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

Range = tuple[float, float, float]
"""Value, lower bound, upper bound."""

LINE_WIDTH = 100
SPREAD = 4.0
"""A parameter without bounds may become this many times smaller or larger."""


def params_in(tree: ast.Module | None) -> dict[str, tuple[ast.expr, Range]]:
    """Name of each declared parameter to the node that holds its value, and its range.

    A bare number instead of (value, low, high) gets bounds of its own size; a value outside its bounds
    widens them. Entries that are not numbers are left out.
    """
    node = assigned(tree, "PARAMS")
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


def table_in(tree: ast.Module | None) -> dict[Hashable, Any] | None:
    """The top-level ``TABLE`` literal, from observation key to action; None where there is none."""
    node = assigned(tree, "TABLE")
    if not isinstance(node, ast.Dict):
        return None
    try:
        return dict(literal(node))
    except ValueError:
        return None


def actions_in(tree: ast.Module | None) -> tuple[Any, ...]:
    """What a table may choose from: the ``ACTIONS`` literal, or else the values the table has."""
    try:
        actions = tuple(literal(assigned(tree, "ACTIONS")))
    except (ValueError, TypeError):
        actions = ()
    try:
        return tuple(dict.fromkeys(actions)) or tuple(dict.fromkeys((table_in(tree) or {}).values()))
    except TypeError:  # lists, say, which no table of actions can be indexed by
        return ()


def number_in(tree: ast.Module | None, name: str, default: float) -> float:
    """A top-level number, or a default where it is missing or no finite number."""
    try:
        number = float(literal(assigned(tree, name)))
    except (ValueError, TypeError, OverflowError):
        return default
    return number if math.isfinite(number) else default


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


def _range(node: ast.expr) -> Range | None:
    try:
        value = literal(node)
        numbers = [float(n) for n in (value if isinstance(value, tuple | list) else [value])]
    except (ValueError, TypeError, OverflowError):
        return None
    if len(numbers) not in {1, 3} or not all(map(math.isfinite, numbers)):
        return None
    first = numbers[0]
    low, high = sorted(numbers[1:]) if len(numbers) > 1 else default_bounds(first)
    return first, min(low, first), max(high, first)


def default_bounds(value: float) -> tuple[float, float]:
    """Bounds for a number that came without: the same sign, up to `SPREAD` times smaller or larger."""
    if value == 0.0:
        return -1.0, 1.0
    low, high = sorted((rounded(value / SPREAD), rounded(value * SPREAD)))
    return low, high
