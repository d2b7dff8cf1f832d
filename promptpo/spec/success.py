"""When ``info`` reports success, as the environment's source computes it."""

from __future__ import annotations

import ast
import copy
import re
from typing import TYPE_CHECKING, cast

from promptpo.spec.folding import folded
from promptpo.spec.slicing import RANDOM
from promptpo.spec.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import gymnasium

    from promptpo.spec.source import Method

LONGEST = 300
"""Characters of a condition that is told."""

DEPTH = 8
"""Names that are replaced one after the other by what they stand for."""

SHORT = 4
"""Statements from which on a function of the environment's module is named, not shown."""

REPORTING = (
    "evaluate_state",
    "step",
    "_get_info",
    "get_info",
    "_info",
    "info",
    "_is_success",
    "compute_info",
)
"""Methods that may say whether an episode succeeded."""


def success_condition(env: gymnasium.Env[Any, Any], key: str) -> str:
    """The condition under which ``info[key]`` is true, over observations and attributes of the environment.

    Names of the method that reports it are replaced by what they stand for. Nothing is told that draws random numbers or
    moves the environment.

    Args:
        env: Its unwrapped class is read.
        key: The name under which success is reported.

    Returns:
        Empty where the source does not say it in a few words.
    """
    source = Source(env.unwrapped)
    for name in REPORTING:
        for method in source.methods(name):
            function = folded(method, source)
            for value in _reported(function, key):
                found = _expanded(value, function, source)
                text = _plain(found)
                if len(text) <= LONGEST and not RANDOM.search(text) and _is_known(found):
                    return text
            if "super()" not in ast.unparse(method.node):
                break  # what it overrides does not run
    return ""


def _reported(function: ast.FunctionDef, key: str) -> Iterator[ast.expr]:
    """What a method puts into a dictionary under a key."""
    for node in ast.walk(function):
        if isinstance(node, ast.Dict):
            for name, value in zip(node.keys, node.values, strict=True):
                if isinstance(name, ast.Constant) and name.value == key:
                    yield value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            place = node.targets[0].slice
            if isinstance(place, ast.Constant) and place.value == key:
                yield node.value


def _expanded(value: ast.expr, function: ast.FunctionDef, source: Source) -> ast.expr:
    """An expression with a method's names replaced by what they stand for, as far as that is one thing."""
    names = _meanings(function, source)
    for _ in range(DEPTH):
        before = ast.dump(value)
        value = _Replaced(names, source).visit(copy.deepcopy(value))
        if ast.dump(value) == before or len(ast.unparse(value)) > LONGEST:
            break
    return ast.fix_missing_locations(value)


def _meanings(function: ast.FunctionDef, source: Source) -> dict[str, ast.expr]:
    """Local names that are assigned once, to what they stand for: a value, or an element of what a method returns."""
    stored = [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    found: dict[str, ast.expr] = {}
    for node in ast.walk(function):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if not isinstance(node, ast.Assign | ast.AnnAssign) or value is None:
            continue
        if isinstance(target, ast.Name):
            found[target.id] = value
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Call):
            results = _returned(value, source)
            if len(results) == len(target.elts):
                found |= {
                    t.id: r for t, r in zip(target.elts, results, strict=True) if isinstance(t, ast.Name)
                }
    return {name: value for name, value in found.items() if stored.count(name) == 1}


def _returned(call: ast.Call, source: Source) -> list[ast.expr]:
    """The elements of what a method of the environment returns in its end, by what its own names stand for."""
    method = _own(call, source)
    if method is None:
        return []
    function = folded(method, source)
    last = function.body[-1]
    if not isinstance(last, ast.Return) or not isinstance(last.value, ast.Tuple):
        return []
    return [_expanded(item, function, source) for item in last.value.elts]


def _own(call: ast.Call, source: Source) -> Method | None:
    """The method of the environment that is called; None for any other call."""
    target = call.func
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
        return source.method(target.attr)
    return None


class _Replaced(ast.NodeTransformer):
    """Names by what they stand for, and methods that decide by what they return; conversions to a number go."""

    def __init__(self, names: dict[str, ast.expr], source: Source) -> None:
        self._names, self._source = names, source

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if isinstance(node.ctx, ast.Load) and node.id in self._names:
            return copy.deepcopy(self._names[node.id])
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if ast.unparse(node.func) in {"float", "bool", "int"} and len(node.args) == 1:
            return node.args[0]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "astype":
            return node.func.value
        return self._decided(node) or node

    def _decided(self, call: ast.Call) -> ast.expr | None:
        """What a method such as ``_is_success(achieved, desired)`` returns for these arguments."""
        method = _own(call, self._source)
        if isinstance(call.func, ast.Name):
            method = self._source.function(call.func.id)
        elif method is not None and "success" not in method.node.name:
            return None
        if method is None or call.keywords:
            return None
        function = folded(method, self._source)
        last = function.body[-1]
        parameters = [arg.arg for arg in function.args.args if arg.arg != "self"]
        whole = len(parameters) == len(call.args) and (
            len(function.body) < SHORT or isinstance(call.func, ast.Attribute)
        )
        if not isinstance(last, ast.Return) or last.value is None or not whole:
            return None
        value = _expanded(last.value, function, self._source)
        return cast(
            "ast.expr", _Replaced(dict(zip(parameters, call.args, strict=True)), self._source).visit(value)
        )


def _is_known(value: ast.expr) -> bool:
    """Whether a condition speaks of nothing but observations, actions and attributes of the environment."""
    called = {n.func.id for n in ast.walk(value) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
    return names <= {"obs", "action", "self", "np", "math", *called} and bool(names & {"obs", "self"})


def _plain(value: ast.expr) -> str:
    """The condition as a spec writes it: goals that an observation holds are read from there."""
    text = ast.unparse(value).replace("self.", "env.")
    text = re.sub(r"\bobs\[(\d+):\d+\]\[(\d+)\]", lambda m: f"obs[{int(m[1]) + int(m[2])}]", text)
    text = re.sub(r"\b(env\.\w+)\.copy\(\)", r"\1", text)
    text = re.sub(r"env\._get_obs\(\w*\)\['(achieved_goal|desired_goal)'\]", r"next_obs['\1']", text)
    return (
        re.sub(r"\benv\.goal\b", "next_obs['desired_goal']", text)
        if "next_obs['achieved_goal']" in text
        else text
    )
