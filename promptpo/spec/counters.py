"""Find the step limit of an environment that counts its steps in an attribute."""

from __future__ import annotations

import ast
import functools
import math
import operator
import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from promptpo.envs.foreign import innermost

if TYPE_CHECKING:
    from promptpo.spec.calls import CallRanks
    from promptpo.spec.code_files import Definition

BEGINS = re.compile(r"_*(?:reset|init|begin|start|new)")
"""Names of functions that begin an episode."""

DECIMALS = 6
"""Decimals to which a step count is rounded, because clocks accumulate rounding errors."""

_Counts = Mapping[str, tuple[float, float]]

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
"""Operators in computed limits."""

_are_close = functools.partial(math.isclose, rel_tol=1e-5, abs_tol=1e-8)


class StepCounters:
    """Attributes that change by the same amount in every step, such as counters, clocks and countdowns.

    Args:
        env: The environment, with its wrappers.
    """

    def __init__(self, env: Any) -> None:
        self._env, self._inner = env, innermost(env)
        self._before = dict[str, float]()
        self._counts: dict[str, tuple[float, float]] | None = None
        """Attribute to its value before the first step, and its change per step."""

    def note(self, number: int) -> None:
        """Record the environment's attributes after a step; the first of an episode is number 1."""
        held = getattr(self._inner, "__dict__", {}).items()
        now = {name: value for name, value in held if type(value) in {int, float} and math.isfinite(value)}
        if number > 1:
            added = {name: now[name] - value for name, value in self._before.items() if name in now}
            counts = {name: (now[name] - number * n, n) for name, n in added.items() if n}
            old = counts if self._counts is None else self._counts
            self._counts = {
                k: v for k, v in old.items() if k in counts and all(map(_are_close, counts[k], v))
            }
        self._before = now

    def limit(self, called: CallRanks) -> int | None:
        """Return the step at which code ends an episode because of a counter; None if it does not."""
        if not self._counts:
            return None
        from promptpo.spec.code_names import find_ending_comparisons
        from promptpo.spec.reach import reach

        try:
            functions = [
                definition for definition in reach(self._env, called).shown if definition.is_function
            ]
        except Exception:  # noqa: BLE001 - a foreign project may hold anything
            return None
        elsewhere = (function.node for function in functions if not BEGINS.match(function.name))
        reassigned = {name for node in elsewhere for name in _find_reassigned(node)}
        counts = {name: count for name, count in self._counts.items() if name not in reassigned}
        owners = {"", *(cls.__name__ for cls in type(self._inner).__mro__)}
        limits = [
            self._step_compared(node, counts, self._names_in(function))
            for node, function in find_ending_comparisons(functions)
            if function.owner in owners
        ]
        return max(filter(None, limits), default=None)

    def _names_in(self, function: Definition) -> Mapping[str, Any]:
        """Return the values of names in a function; of locals that are assigned once, their expressions."""
        nodes = [*ast.walk(function.node)]
        stored = Counter(n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        given = [(n.targets[0], n.value) for n in nodes if isinstance(n, ast.Assign)]
        tuples = [(t.elts, v.elts) for t, v in given if isinstance(t, ast.Tuple) and isinstance(v, ast.Tuple)]
        given += [pair for sides in tuples for pair in zip(*sides, strict=False)]
        local = {t.id: v for t, v in given if isinstance(t, ast.Name) and stored[t.id] == 1}
        return {**vars(function.file.module), **local, "self": self._inner}

    def _step_compared(self, node: ast.Compare, counts: _Counts, names: Mapping[str, Any]) -> int | None:
        """Return the first step at which a comparison with a counter holds; None if there is none."""
        sides, op = (node.left, node.comparators[0]), node.ops[0]
        try:
            before, after = (
                float(operator.sub(*(self._value(side, n, counts, names) for side in sides))) for n in (0, 1)
            )
        except Exception:  # noqa: BLE001 - what cannot be computed is no limit
            return None
        grows = after - before
        if not grows or not isinstance(
            op, (ast.GtE, ast.Gt, ast.Eq) if grows > 0 else (ast.LtE, ast.Lt, ast.Eq)
        ):
            return None
        step = round(-before / grows, DECIMALS)
        found = math.floor(step) + 1 if isinstance(op, ast.Gt | ast.Lt) else math.ceil(step)
        return found if found > 0 else None

    def _value(self, node: ast.expr, step: int, counts: _Counts, names: Mapping[str, Any]) -> Any:
        """Evaluate an expression of constants, module names, attributes and entries after a step."""
        match node:
            case ast.Constant(value):
                return value
            case ast.Name(name):
                value = names[name]
                return self._value(value, step, {}, names) if isinstance(value, ast.expr) else value
            case ast.Attribute(_, name) if name in counts:
                return counts[name][0] + step * counts[name][1]
            case ast.Attribute(inner, name):
                return getattr(self._value(inner, step, counts, names), name)
            case ast.Subscript(inner, ast.Constant(key)):
                return self._value(inner, step, counts, names)[key]
            case ast.BinOp(left, op, right):
                sides = (self._value(side, step, counts, names) for side in (left, right))
                return OPERATORS[type(op)](*sides)
        raise TypeError


def _find_reassigned(node: ast.AST) -> set[str]:
    """Return attributes that code assigns other than in place: such a counter may restart during an episode."""
    added = {id(n.target) for n in ast.walk(node) if isinstance(n, ast.AugAssign)}
    stored = (
        n for n in ast.walk(node) if isinstance(getattr(n, "ctx", None), ast.Store) and id(n) not in added
    )
    return {n.attr for n in stored if isinstance(n, ast.Attribute)}
