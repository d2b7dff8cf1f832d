"""Which attribute of an environment counts the steps, and where its code ends an episode by it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from promptpo.envs.foreign import innermost

BEGINS = re.compile(r"_*(?:reset|init|begin|start|new)")
"""Functions that begin an episode."""


class StepCounters:
    """Attributes that equal the number of each step so far.

    Args:
        env: The environment, with its wrappers.
    """

    def __init__(self, env: Any) -> None:
        self._env, self._inner = env, innermost(env)
        self._names: set[str] | None = None

    def note(self, number: int) -> None:
        """Look at what it holds after a step of an episode, the first of which is number 1."""
        held = getattr(self._inner, "__dict__", {}).items()
        same = {name for name, value in held if type(value) in {int, float} and value == number}
        self._names = same if self._names is None else self._names & same

    def limit(self) -> int | None:
        """The step at which an episode is ended: what code compares a counter with; None where it does not."""
        if not self._names:
            return None
        from promptpo.spec.reach import reach

        try:
            shown = reach(self._env).shown
        except Exception:  # noqa: BLE001 - a foreign project may hold anything
            return None
        functions = [definition for definition in shown if not isinstance(definition.node, ast.ClassDef)]
        elsewhere = (function.node for function in functions if not BEGINS.match(function.name))
        counting = self._names - {name for node in elsewhere for name in _set_anew(node)}
        limits = {
            limit
            for function in functions
            for node in ast.walk(function.node)
            if (limit := self._step_compared(node, counting, function.file.module)) is not None
        }
        return max(limits, default=None)

    def _step_compared(self, node: ast.AST, counting: set[str], module: Any) -> int | None:
        """The step from which on a comparison of a counter, or of one with a number added, with a limit holds."""
        added = 0
        match node:
            case ast.Compare(left, [ast.GtE() | ast.Gt() | ast.Eq() as op], [limit]):
                match left:
                    case ast.BinOp(inner, ast.Add(), ast.Constant(int(plus))):
                        left, added = inner, -plus
                value = self._value(limit, module)
                if (
                    isinstance(left, ast.Attribute)
                    and left.attr in counting
                    and type(value) is int
                    and value > 0
                ):
                    return value + added + isinstance(op, ast.Gt)
        return None

    def _value(self, node: ast.expr, module: Any) -> Any:
        """The value of a constant, of an attribute of the environment or of a name of a module; None for anything else."""
        match node:
            case ast.Constant(value):
                return value
            case ast.Attribute(ast.Name("self"), name):
                return getattr(self._inner, "__dict__", {}).get(name, getattr(type(self._inner), name, None))
            case ast.Name(name):
                return vars(module).get(name)
        return None


def _set_anew(node: ast.AST) -> Iterator[str]:
    """Attributes that code sets, where it does not add to them: a count of something else than steps may begin again."""
    for child in ast.walk(node):
        targets = child.targets if isinstance(child, ast.Assign) else [getattr(child, "target", None)]
        for target in () if isinstance(child, ast.AugAssign) else targets:
            yield from (n.attr for n in ast.walk(target or ast.Pass()) if isinstance(n, ast.Attribute))
