"""Cutting out of a method what decides its result, and nothing of what moves the environment.

A backward slice after Weiser (1984), with one more rule: variables that carry the environment's state
into the next step are never traced back. What remains is how the reward follows from the state, the
action and the observation; how the state follows from the action stays behind.
"""

from __future__ import annotations

import ast
import builtins
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from promptpo.spec.folding import REWARDING
from promptpo.spec.source import changed_in_place

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from promptpo.spec.source import Function

MOVES = re.compile(
    r"\b(do_simulation|_?simulate|_simulation_step|_mujoco_step|mj_step\w*|Step|step|Apply\w+|categorical_sample|np_random"
    r"|_rk4|rk4|_dsdt|odeint|solve_ivp|_set_action|set_state|sample|random|RayCast|draw_card|_step_mujoco_simulation)\b"
)
"""Calls that move the environment or draw from its random numbers: nothing that uses them is shown."""

MOVED = "the_environment_moves_here"


@dataclass
class Slice:
    """What is left of a method.

    Attributes:
        function: The method, cut down.
        state: Names that it uses without showing where they come from: the environment's state.
    """

    function: Function
    state: set[str] = field(default_factory=set)


def sliced(function: Function, wanted: Collection[int] | None, *, is_step: bool = False) -> Slice | None:
    """Keep what a method's result depends on.

    Args:
        function: A method with its constants resolved.
        wanted: Which elements of a returned tuple matter; None means the whole result.
        is_step: Whether it is the environment's ``step``, whose first element is the observation.

    Returns:
        None where the result cannot be told from what moves the environment.
    """
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    if not returns:
        return None
    parameters = {arg.arg for arg in ast.walk(function.args) if isinstance(arg, ast.arg)}
    state = set(_state_names(function, returns, is_step=is_step)) - set(dir(builtins)) - parameters
    if is_step:
        state.add("info")
    observation = _observation_name(returns) if is_step else None
    for node in returns:
        if wanted is not None and isinstance(node.value, ast.Tuple):
            elements = [e for i, e in enumerate(node.value.elts) if i in wanted]
            node.value = elements[0] if len(elements) == 1 else ast.Tuple(elements, ast.Load())
    needed = set().union(*(_names(node.value) for node in returns))
    readings = _plain_readings(function)
    while True:
        before = len(needed)
        body = _kept(function.body, needed, state - readings)
        needed |= set().union(*(_names(statement) for statement in body)) if body else set()
        if len(needed) == before:
            break
    body = _with_one_move(body)
    function.body = body
    if not body or any(MOVES.search(ast.unparse(s)) for s in _flat(body) if not _is_move(s)):
        return None
    if observation:
        _Rename(observation, "next_obs").visit(function)
    assigned = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    used = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return Slice(ast.fix_missing_locations(function), (used & state) - assigned - parameters - {"info"})


def _kept(body: Sequence[ast.stmt], needed: set[str], opaque: set[str]) -> list[ast.stmt]:
    """The statements that assign a needed name, and what encloses them."""
    result: list[ast.stmt] = []
    for statement in body:
        kept = _cut(statement, needed, opaque)
        if kept is not None:
            result.append(kept)
    if all(_is_move(statement) for statement in result):
        return []
    return result


def _cut(statement: ast.stmt, needed: set[str], opaque: set[str]) -> ast.stmt | None:
    if isinstance(statement, ast.Return):
        return statement
    if isinstance(statement, ast.If):
        body, orelse = _kept(statement.body, needed, opaque), _kept(statement.orelse, needed, opaque)
        if not body and not orelse:
            return None
        return ast.If(statement.test, body or [ast.Pass()], orelse)
    if isinstance(statement, ast.For | ast.While | ast.With):
        body = _kept(statement.body, needed, opaque)
        return _around(statement, body) if body else None
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if any(_wanted(target, statement, needed, opaque) for target in targets):
            return statement
        return None
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        changed = changed_in_place(statement.value)
        if changed in needed and changed not in opaque:
            return statement
        return _move() if MOVES.search(ast.unparse(statement)) else None
    return None


def _around(statement: ast.For | ast.While | ast.With, body: list[ast.stmt]) -> ast.stmt:
    """A compound statement with another body."""
    if isinstance(statement, ast.For):
        return ast.For(statement.target, statement.iter, body, [])
    if isinstance(statement, ast.While):
        return ast.While(statement.test, body, [])
    return ast.With(statement.items, body)


def _wanted(target: ast.expr, statement: ast.stmt, needed: set[str], opaque: set[str]) -> bool:
    if isinstance(target, ast.Tuple | ast.List):
        return any(_wanted(item, statement, needed, opaque) for item in target.elts)
    if isinstance(target, ast.Name):
        return target.id in needed and target.id not in opaque
    if isinstance(target, ast.Subscript):
        return _wanted(target.value, statement, needed, opaque)
    dotted = ast.unparse(target)
    return dotted in needed and bool(REWARDING.search(dotted))


def _state_names(function: Function, returns: Sequence[ast.Return], *, is_step: bool) -> Iterator[str]:
    """Local names that carry the environment's state from or into its attributes."""
    packed: set[str] = set()
    if is_step:
        for returned in returns:
            if isinstance(returned.value, ast.Tuple) and returned.value.elts:
                packed |= _locals(returned.value.elts[0])
    assignments = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
    for node in assignments:
        for target in node.targets:
            names = _locals(target)
            if any(isinstance(t, ast.Attribute) and not REWARDING.search(t.attr) for t in _targets(target)):
                yield from _locals(node.value)
            elif isinstance(target, ast.Tuple) and re.fullmatch(r"self\.\w+", ast.unparse(node.value)):
                yield from names
            elif names & packed and is_step:
                yield from _packaged(node.value)
    yield from packed


def _targets(target: ast.expr) -> list[ast.expr]:
    return list(target.elts) if isinstance(target, ast.Tuple | ast.List) else [target]


def _packaged(value: ast.expr) -> set[str]:
    """Names inside ``[a, b]``, ``(a, b)`` or ``np.array([a, b])``: an observation put together."""
    while isinstance(value, ast.Call) and value.args:
        value = value.args[0]
    if isinstance(value, ast.List | ast.Tuple):
        return set().union(*(_locals(item) for item in value.elts if isinstance(item, ast.Name)), set())
    return set()


def _plain_readings(function: Function) -> set[str]:
    """Names assigned once, from something that is merely read: ``pos = self.hull.position``."""
    count: dict[str, int] = {}
    plain: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.AugAssign):
            for name in _locals(node.target):
                count[name] = count.get(name, 0) + 2
        if isinstance(node, ast.Assign):
            for name in set().union(*(_locals(target) for target in node.targets)):
                count[name] = count.get(name, 0) + 1
                if re.fullmatch(r"self(\.\w+|\[\w+\])+(\.copy\(\))?", ast.unparse(node.value)):
                    plain.add(name)
    return {name for name in plain if count[name] == 1}


def _observation_name(returns: Sequence[ast.Return]) -> str | None:
    """The local variable that holds the observation which ``step`` returns; None where there is none."""
    value = returns[-1].value
    first = value.elts[0] if isinstance(value, ast.Tuple) and value.elts else None
    while isinstance(first, ast.Call) and first.args:
        first = first.args[0]
    return first.id if isinstance(first, ast.Name) else None


def _names(node: ast.AST | None) -> set[str]:
    """Local names and ``self.attributes`` that a piece of code mentions."""
    found: set[str] = set()
    for part in ast.walk(node) if node is not None else ():
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "self":
            found.add(f"self.{part.attr}")
    return found - {"self"}


def _locals(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} - {"self", "np", "math"}


def _move() -> ast.stmt:
    return ast.Expr(ast.Name(MOVED, ast.Load()))


def _is_move(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Name)
        and statement.value.id == MOVED
    )


def _with_one_move(body: list[ast.stmt]) -> list[ast.stmt]:
    """Marks where before and after differ: between outer statements, or if there are none, inside them."""
    result: list[ast.stmt] = []
    for statement in body:
        if not _is_move(statement) or (result and not _is_move(result[-1])):
            result.append(statement)
    if any(map(_is_move, result)):
        for statement in result:
            _NoMoves().visit(statement)
    return result


class _NoMoves(ast.NodeTransformer):
    """Removes the marks below a statement."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name in ("body", "orelse"):
            inner = getattr(node, name, None)
            if isinstance(inner, list):
                setattr(node, name, [s for s in inner if not _is_move(s)])
        return super().generic_visit(node)


def _flat(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, ast.If | ast.For | ast.While | ast.With):
            yield from _flat(statement.body)
            yield from _flat(getattr(statement, "orelse", []))
        else:
            yield statement


class _Rename(ast.NodeTransformer):
    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = old, new

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self._new if node.id == self._old else node.id, node.ctx)
