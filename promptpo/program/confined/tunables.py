"""The literals of a policy module that tuning may change: ``PARAMS``, ``TABLE`` and ``ACTIONS``.

They are read with `ast.literal_eval`, never by running the code, and rewritten in place, so that comments and layout
around them stay as written.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from promptpo.program.confined.tree import Module, assigned_value, constant
from promptpo.program.tunables import Range, round_value
from promptpo_sandbox.arrays import Shape, as_text, element_names, read_array
from promptpo_sandbox.entries import MOST_IN_ALL, TRIPLE, Constants, entries_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

NEW_LINE = "\n"
SPREAD = 4.0
"""Factor by which a parameter without bounds may become smaller or larger."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One entry of ``PARAMS``: a number, or an array of them.

    Attributes:
        name: The key.
        node: The expression that holds the value.
        shape: Shape of an array; empty for a number.
        values: The numbers, in row order.
        low: Lower bound of each number.
        high: Upper bound of each number.
        whole: Whether `node` holds the bounds too, as a name for all three does.
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
        """Names of its numbers; for an array, ``W[0,1]`` and so on."""
        return element_names(self.name, self.shape) if self.shape else [self.name]

    def text(self, values: Sequence[float]) -> str:
        """Return the text of other values to put in place of `node`."""
        made = self.node.func if isinstance(self.node, ast.Call) and not self.whole else None
        module = made.value if isinstance(made, ast.Attribute) else None
        before, after = (f"{module.id}.array(", ")") if isinstance(module, ast.Name) else ("", "")
        text = repr(round_value(values[0]))
        if self.shape:
            indent = " " * (self.node.col_offset + len(before) + 1)
            rows = as_text(self.shape, [round_value(value) for value in values])
            text = before + rows.replace(NEW_LINE, NEW_LINE + indent) + after
        return f"({text}, {round_value(self.low)!r}, {round_value(self.high)!r})" if self.whole else text


def read_declarations(tree: ast.Module) -> dict[str, Declared]:
    """Return the declared parameters by name.

    A bare number instead of (value, low, high) gets bounds relative to its size; a value outside its bounds widens them. Names
    assigned once and arithmetic on numbers are resolved. Entries are dropped that are neither numbers nor arrays, or whose
    numbers' names clash with those of an earlier entry.
    """
    constants = Constants(tree)
    found: dict[str, Declared] = {}
    numbers = 0
    for entry in entries_of(constants)[0]:
        numbers += constants.size(entry)
        if numbers > MOST_IN_ALL:  # the gate refuses such a module
            return {}
        parameter = _read_parameter(entry.name, entry.value, constants)
        if parameter is not None and entry.node is not entry.value:
            parameter = replace(parameter, node=entry.node, whole=parameter.node is not entry.value)
        if parameter is not None:
            found[entry.name] = parameter
    taken: set[str] = set()
    for name, parameter in list(found.items()):
        if taken.isdisjoint(parameter.names):
            taken.update(parameter.names)
        else:
            del found[name]
    return found


def params(module: Module) -> dict[str, Range]:
    """Return value and bounds of every declared number by name, arrays element by element."""
    return {
        name: (value, parameter.low, parameter.high)
        for parameter in read_declarations(module.tree).values()
        for name, value in zip(parameter.names, parameter.values, strict=True)
    }


def arrays(module: Module) -> dict[str, Shape]:
    """Return the shape of each declared array."""
    return {
        name: parameter.shape for name, parameter in read_declarations(module.tree).items() if parameter.shape
    }


def constructor_argument(module: Module) -> str:
    """Return an expression for the constructor's argument; see `Program.constructor_argument`."""
    declared, node = read_declarations(module.tree).values(), assigned_value(module.tree, "PARAMS")
    entries = node.values if isinstance(node, ast.Dict) else []
    triples = len(entries) == len(declared) and all(isinstance(e, ast.Tuple | ast.List) for e in entries)
    if declared and triples:
        value = "np.array(value[0], dtype=float) if np.ndim(value[0]) else value[0]"
        return f"{{name: {value if arrays(module) else 'value[0]'} for name, value in PARAMS.items()}}"
    written = (
        f"{parameter.name!r}: np.array({list(parameter.values)!r}).reshape({parameter.shape!r})"
        if parameter.shape
        else f"{parameter.name!r}: {parameter.values[0]!r}"
        for parameter in declared
    )
    return f"{{{', '.join(written)}}}"


def table(module: Module) -> list[tuple[Hashable, Any]] | None:
    """Return the items of the top-level ``TABLE`` literal; None without one."""
    found = constant(module, "TABLE")
    return list(found.items()) if isinstance(found, dict) else None


def actions(module: Module) -> tuple[Any, ...]:
    """Return the actions that a table may contain: the ``ACTIONS`` literal, or else the table's values."""
    found = constant(module, "ACTIONS")
    try:
        listed = found if isinstance(found, Iterable) else ()
        return tuple(dict.fromkeys(listed or (action for _, action in table(module) or ())))
    except TypeError:  # unhashable, such as lists
        return ()


def with_values(module: Module, values: Mapping[str, float]) -> str:
    """Return the module with other parameter values; see `Program.with_values`."""
    finite = {name: value for name, value in values.items() if abs(value) < math.inf}
    edits = []
    for parameter in read_declarations(module.tree).values():
        if not finite.keys().isdisjoint(parameter.names):
            new = [finite.get(name, old) for name, old in zip(parameter.names, parameter.values, strict=True)]
            edits.append((parameter.node, parameter.text(new)))
    return module.with_nodes(edits)


def with_literal(module: Module, name: str, text: str) -> str:
    """Return the module with another expression assigned to a top-level name, if it has that name."""
    node = assigned_value(module.tree, name)
    return module.source if node is None else module.with_nodes([(node, text)])


def _read_parameter(name: str, item: ast.expr, constants: Constants) -> Declared | None:
    """Parse an entry as a parameter; None if it is neither a number nor an array with bounds."""
    several = item.elts if isinstance(item, ast.Tuple | ast.List) else [item]
    array = read_array(constants.resolve(several[0])) if len(several) == TRIPLE else None
    try:
        bounds = [constants.value(bound) for bound in several[1:]]
        shape, numbers = array or ((), (constants.value(several[0]),))
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    if len(several) not in {1, TRIPLE} or not all(map(math.isfinite, (*numbers, *bounds))):
        return None
    low, high = sorted(bounds) if bounds else default_bounds(numbers[0])
    return Declared(name, several[0], shape, tuple(numbers), min(low, *numbers), max(high, *numbers))


def default_bounds(value: float) -> tuple[float, float]:
    """Return bounds for a number declared without: the same sign, up to `SPREAD` times smaller or larger."""
    if value == 0.0:
        return -1.0, 1.0
    low, high = sorted((round_value(value / SPREAD), round_value(value * SPREAD)))
    return low, high
