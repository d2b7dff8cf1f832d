"""Attributes of an environment beside its steps: which of them a policy sees, and which counts the steps."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from promptpo.envs.foreign import innermost
from promptpo.envs.spaces import at, leaves
from promptpo.spec.paths import path_expression

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from promptpo.envs.spaces import AnySpace

MAX_ROWS, MAX_NUMBERS, MIN_DIFFERENT = 300, 8, 3
"""Steps that are kept; numbers of an attribute; different values from which on two numbers that agree are one."""


BEGINS = re.compile(r"_*(?:reset|init|begin|start|new)")
"""Functions that begin an episode."""


class AttributeTrace:
    """Numbers that an environment keeps, after each of some steps.

    Args:
        env: The environment, with its wrappers.
    """

    def __init__(self, env: Any) -> None:
        self._env, self._inner = env, innermost(env)
        self._rows: list[tuple[int, Any, dict[str, NDArray[Any]]]] = []

    def note(self, number: int, observation: Any) -> None:
        """Keep what it holds after a step of an episode, the first of which is number 1."""
        if len(self._rows) < MAX_ROWS:
            numbers = {
                name: table
                for name, value in getattr(self._inner, "__dict__", {}).items()
                if (table := _numbers(value)) is not None
            }
            self._rows.append((number, observation, numbers))

    def _columns(self) -> dict[tuple[str, int], NDArray[Any]]:
        """Attribute and index to its values, of those that were there after every step."""
        sizes = Counter((name, len(row)) for _, _, own in self._rows for name, row in own.items())
        steady = [name for (name, _), n in sizes.items() if n == len(self._rows)]
        tables = {name: np.array([own[name] for _, _, own in self._rows]) for name in steady}
        return {(name, i): column for name, table in tables.items() for i, column in enumerate(table.T)}

    def names(self, space: AnySpace) -> dict[str, str]:
        """Names the environment has for numbers of the observation: path to the one attribute that always equals it."""
        own, found = self._columns(), {}
        for path, leaf in leaves(space):
            values = [at(observation, path) for _, observation, _ in self._rows]
            if not values or isinstance(values[0], str) or np.ndim(values[0]) > 1:
                continue
            place, single = path_expression("obs", path), leaf.shape in {(), None}
            for i, column in enumerate(np.array([np.ravel(value) for value in values], dtype=float).T):
                if len(np.unique(column)) >= MIN_DIFFERENT:
                    same = [key for key, row in own.items() if np.allclose(row, column, rtol=1e-5, atol=1e-7)]
                    if len(same) == 1:
                        found[place if single else f"{place}[{i}]"] = _label(same[0], own)
        often = Counter(found.values())
        return {place: name for place, name in found.items() if often[name] == 1}

    def limit(self) -> int | None:
        """The step at which an episode is ended: what code compares a number with that counts the steps."""
        counting = {
            name
            for (name, _), column in self._columns().items()
            if all(value == number for value, (number, _, _) in zip(column, self._rows, strict=True))
        }
        if not counting:
            return None
        from promptpo.spec.reach import reach

        try:
            shown = reach(self._env).shown
        except Exception:  # noqa: BLE001 - a foreign project may hold anything
            return None
        functions = [definition for definition in shown if not isinstance(definition.node, ast.ClassDef)]
        counting -= {
            name
            for definition in functions
            if not BEGINS.match(definition.name)
            for name in _set_anew(definition.node)
        }
        limits = set[int]()
        for home, node in (
            (definition, node) for definition in functions for node in ast.walk(definition.node)
        ):
            bound = _bound(node, counting)
            value = None if bound is None else _value(self._inner, home.file.module, bound.limit)
            if bound is not None and type(value) is int and value > 0:
                limits.add(value + bound.added)
        return max(limits, default=None)


def _set_anew(node: ast.AST) -> Iterator[str]:
    """Attributes that code sets, where it does not add to them: a count of something else than steps may begin again."""
    for child in ast.walk(node):
        targets = child.targets if isinstance(child, ast.Assign) else [getattr(child, "target", None)]
        for target in () if isinstance(child, ast.AugAssign) else targets:
            yield from (n.attr for n in ast.walk(target or ast.Pass()) if isinstance(n, ast.Attribute))


class _Bound(NamedTuple):
    """What a counter is compared with.

    Attributes:
        limit: The expression.
        added: What the number of steps exceeds it by where the comparison first holds.
    """

    limit: ast.expr
    added: int


def _bound(node: ast.AST, counting: Collection[str]) -> _Bound | None:
    """The comparison of a counter, or of one with a number added, that ends at a limit; None for anything else."""
    match node:
        case ast.Compare(left, [ast.GtE() | ast.Gt() | ast.Eq() as op], [limit]):
            added = 0
            match left:
                case ast.BinOp(inner, ast.Add(), ast.Constant(int(plus))):
                    left, added = inner, -plus
            if isinstance(left, ast.Attribute) and left.attr in counting:
                return _Bound(limit, added + isinstance(op, ast.Gt))
    return None


def _label(key: tuple[str, int], own: Mapping[tuple[str, int], Any]) -> str:
    name, i = key
    return f"{name}_{i}" if (name, 1) in own else name


def _numbers(value: Any) -> NDArray[Any] | None:
    """The few numbers that a value is; None for anything else."""
    if isinstance(value, bool | str | bytes | dict | set) or value is None:
        return None
    try:
        found = np.ravel(np.array(value, dtype=float))
    except Exception:  # noqa: BLE001 - a foreign object, that says how it becomes numbers
        return None
    return found if 0 < found.size <= MAX_NUMBERS and not np.isnan(found).any() else None


def _value(env: Any, module: Any, node: ast.expr) -> Any:
    """Return the value of a constant, an attribute of the environment or a name of a module; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value
    names = list(_chain(node))
    if not names:
        return None
    value = (
        getattr(env, "__dict__", {}).get(names[0], getattr(type(env), names[0], None))
        if names[1:] == ["self"]
        else None
    )
    return vars(module).get(names[0]) if len(names) == 1 else value


def _chain(node: ast.expr) -> Iterator[str]:
    """The names of a chain of attributes, the last one first; nothing where it is something else."""
    match node:
        case ast.Attribute(value=value, attr=attr):
            yield attr
            yield from _chain(value)
        case ast.Name(id=name):
            yield name
