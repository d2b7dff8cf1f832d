"""The literals of a policy module that tuning may change: ``PARAMS``, ``TABLE`` and ``ACTIONS``.

They are read with `ast.literal_eval`, never by running the code, and rewritten in place, so that the
comments and the layout around them stay as their author wrote them.
"""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from promptpo.program.confined.tree import assigned, literal
from promptpo.program.tunables import Range, rounded
from promptpo_sandbox.arrays import Shape, as_text, element_names, read_array
from promptpo_sandbox.entries import MOST_IN_ALL, Constants, entries_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

NEW_LINE = "\n"
SPREAD = 4.0
"""A parameter without bounds may become this many times smaller or larger."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One entry of ``PARAMS``: a number, or an array of them.

    Attributes:
        name: Its key.
        node: What holds the value in the source.
        shape: Of an array; empty for a number.
        values: The numbers, in row order.
        low: Lower bound of each.
        high: Upper bound of each.
        whole: Whether `node` holds the bounds as well, as a name of all three does.
    """

    name: str
    node: ast.expr
    shape: Shape
    values: tuple[float, ...]
    low: float
    high: float
    whole: bool = False

    @property
    def names(self) -> list[str]:
        """What its numbers are called: ``W[0,1]`` and so on in an array."""
        return element_names(self.name, self.shape) if self.shape else [self.name]

    def text(self, values: Sequence[float]) -> str:
        """Other values as they are written in the place of `node`."""
        if self.whole:
            text = replace(self, whole=False, node=ast.copy_location(ast.Constant(0.0), self.node)).text(
                values
            )
            return f"({text}, {rounded(self.low)!r}, {rounded(self.high)!r})"
        if not self.shape:
            return repr(rounded(values[0]))
        rows = as_text(self.shape, [rounded(value) for value in values])
        made = self.node.func if isinstance(self.node, ast.Call) else None
        if isinstance(made, ast.Attribute) and isinstance(made.value, ast.Name):
            indent = " " * (self.node.col_offset + len(f"{made.value.id}.array(["))
            return f"{made.value.id}.array({rows.replace(NEW_LINE, NEW_LINE + indent)})"
        return rows.replace(NEW_LINE, NEW_LINE + " " * (self.node.col_offset + 1))


def declared_in(tree: ast.Module | None) -> dict[str, Declared]:
    """Each declared parameter.

    A bare number instead of (value, low, high) gets bounds of its own size; a value outside its bounds
    widens them. Names that the module assigns once, and arithmetic of numbers, are resolved. Entries that are neither
    numbers nor arrays are left out, and so is one whose numbers would be called as those of one before.
    """
    if tree is None:
        return {}
    constants = Constants(tree)
    found: dict[str, Declared] = {}
    numbers = 0
    for entry in entries_of(tree)[0]:
        numbers += constants.size(entry)
        if numbers > MOST_IN_ALL:  # the gate refuses such a module
            return {}
        one = _array(entry.name, entry.value, constants) or _number(entry.name, entry.value, constants)
        if one is not None and entry.node is not entry.value:
            one = replace(one, node=entry.node, whole=one.node is not entry.value)
        if one is not None:
            found[entry.name] = one
    taken: set[str] = set()
    for name, one in list(found.items()):
        if taken.isdisjoint(one.names):
            taken.update(one.names)
        else:
            del found[name]
    return found


def params_in(tree: ast.Module | None) -> dict[str, Range]:
    """Value and bounds of every declared number by its name, those of arrays one by one."""
    return {
        name: (value, one.low, one.high)
        for one in declared_in(tree).values()
        for name, value in zip(one.names, one.values, strict=True)
    }


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


def _number(name: str, item: ast.expr, constants: Constants) -> Declared | None:
    several = item.elts if isinstance(item, ast.Tuple | ast.List) else [item]
    try:
        numbers = [constants.value(one) for one in several]
    except (ValueError, TypeError, OverflowError):
        return None
    if len(numbers) not in {1, 3} or not all(map(math.isfinite, numbers)):
        return None
    first = numbers[0]
    low, high = sorted(numbers[1:]) if len(numbers) > 1 else default_bounds(first)
    node = item.elts[0] if isinstance(item, ast.Tuple | ast.List) else item
    return Declared(name, node, (), (first,), min(low, first), max(high, first))


def _array(name: str, item: ast.expr, constants: Constants) -> Declared | None:
    if not isinstance(item, ast.Tuple | ast.List) or len(item.elts) != 3:  # noqa: PLR2004 - value, low, high
        return None
    read = read_array(constants.resolved(item.elts[0]))
    if read is None:
        return None
    shape, numbers = read
    try:
        low, high = sorted(constants.value(bound) for bound in item.elts[1:])
    except (ValueError, TypeError, OverflowError):
        return None
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    return Declared(name, item.elts[0], shape, tuple(numbers), min(low, *numbers), max(high, *numbers))


def default_bounds(value: float) -> tuple[float, float]:
    """Bounds for a number that came without: the same sign, up to `SPREAD` times smaller or larger."""
    if value == 0.0:
        return -1.0, 1.0
    low, high = sorted((rounded(value / SPREAD), rounded(value * SPREAD)))
    return low, high
