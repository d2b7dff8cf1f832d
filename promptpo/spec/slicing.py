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
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from promptpo.spec.source import Function

RANDOM = re.compile(
    r"\b(np_random|random|sample|categorical_sample|step|Step|advance|simulate|do_simulation|rk4|odeint|solve_ivp)\("
    r"|\bnp_random\."
)
"""Calls that draw random numbers or move the environment: nothing that uses their results is shown."""

OWN_CALLS = "self.*"
"""Stands for all attributes: a method that the code calls may read any of them."""

MOVED = "the_environment_moves_here"


@dataclass
class Slice:
    """What is left of a method.

    Attributes:
        function: The method, cut down.
        state: Names that it uses without showing where they come from, to the attribute of the environment
            that holds the same after the step ("self.state[0]"); empty where none does.
    """

    function: Function
    state: Mapping[str, str] = field(default_factory=dict)


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
    state |= _carried(function)
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
        if any(re.search(r"\bself\.\w+\(", ast.unparse(ast.fix_missing_locations(s))) for s in body):
            needed.add(OWN_CALLS)
        if len(needed) == before:
            break
    stored = _stored_as(function)
    body = _with_moves_between(body)
    function.body = body
    if not body or any(RANDOM.search(ast.unparse(s)) for s in _flat(body) if not _is_move(s)):
        return None
    if observation:
        _Rename(observation, "next_obs").visit(function)
    assigned = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    used = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    unknown = (used & state) - assigned - parameters - {"info"}
    return Slice(
        ast.fix_missing_locations(function), {name: stored.get(name, "") for name in sorted(unknown)}
    )


def _kept(body: Sequence[ast.stmt], needed: set[str], opaque: set[str]) -> list[ast.stmt]:
    """The statements that assign a needed name, what encloses them, and marks for what else moves the environment."""
    cut = (_cut(statement, needed, opaque) for statement in body)
    return [statement for statement in cut if statement is not None]


def _cut(statement: ast.stmt, needed: set[str], opaque: set[str]) -> ast.stmt | None:
    if isinstance(statement, ast.Return):
        return statement
    if isinstance(statement, ast.If | ast.For | ast.While | ast.With):
        body = _kept(statement.body, needed, opaque)
        orelse = _kept(getattr(statement, "orelse", []), needed, opaque)
        if not all(map(_is_move, (*body, *orelse))):
            return _around(statement, body or [ast.Pass()], orelse)
        return _move() if body or orelse else None
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if any(_wanted(target, statement, needed, opaque) for target in targets):
            return _without_old_state(statement, opaque)
        matters = _stored(targets) & needed or OWN_CALLS in needed
        counts = re.fullmatch(r"self\.\w+ \+= 1", ast.unparse(statement)) and not _stored(targets) & needed
        moves = (_stored(targets) and matters and not counts) or RANDOM.search(ast.unparse(statement))
        return _move() if moves else None
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        changed = changed_in_place(statement.value)
        if changed in needed and changed not in opaque:
            return statement
        return _move() if "self" in _read(statement) else None
    return None


def _without_old_state(statement: ast.stmt, opaque: set[str]) -> ast.stmt:
    """``x, v = self.state`` without the names that get another value later on."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if isinstance(target, ast.Tuple):
        for item in target.elts:
            if isinstance(item, ast.Name) and item.id in opaque:
                item.id = "_"
    return statement


def _stored(targets: Sequence[ast.expr]) -> set[str]:
    """The environment's attributes that an assignment changes: "self.x" for ``self.x[0] = ...`` too."""
    found = set()
    for target in targets:
        for item in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
            match = re.match(r"self\.\w+", ast.unparse(item))
            found |= {match[0]} if match else set()
    return found


def _read(statement: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def _around(
    statement: ast.If | ast.For | ast.While | ast.With, body: list[ast.stmt], orelse: list[ast.stmt]
) -> ast.stmt:
    """A compound statement with other bodies."""
    if isinstance(statement, ast.If):
        return ast.If(statement.test, body, orelse)
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
    yield from packed


def _targets(target: ast.expr) -> list[ast.expr]:
    return list(target.elts) if isinstance(target, ast.Tuple | ast.List) else [target]


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


def _with_moves_between(body: list[ast.stmt]) -> list[ast.stmt]:
    """Marks stay where they tell what is read before the move from what is read after it.

    Without a mark everything is read after the move.
    """
    spread: list[ast.stmt] = []
    for statement in body:
        inside = not _is_move(statement) and MOVED in _read(statement)
        _NoMoves().visit(statement)
        spread += [statement, _move()] if inside else [statement]
    reads = [not _is_move(s) and "self" in _read(s) for s in spread]
    read = [index for index, reading in enumerate(reads) if reading]
    marks = [index for index, statement in enumerate(spread) if _is_move(statement)]
    if not read or not marks:
        kept = []
    else:
        kept = [index for index in marks if read[0] < index < read[-1]]
        if not kept and marks[0] > read[-1]:
            kept = marks[:1]
    return [
        statement
        for index, statement in enumerate(spread)
        if not _is_move(statement) or (index in kept and index - 1 not in kept)
    ]


def _carried(function: Function) -> set[str]:
    """Collections of the environment that a method changes in place without emptying them first: its state."""
    changed = {name for node in ast.walk(function) if (name := changed_in_place(node)) is not None}
    code = ast.unparse(function)
    return {
        name
        for name in changed
        if name.startswith("self.")
        and not re.search(rf"{re.escape(name)}(\.clear\(\)| = (\[\]|{{}}|\w+\(\))$)", code, re.MULTILINE)
    }


def _stored_as(function: Function) -> dict[str, str]:
    """Local name to the attribute that holds it after the step: ``self.state = (x, v)`` stores x as self.state[0]."""
    found: dict[str, str] = {}
    for node in function.body:  # below a condition it holds something else at times
        if not isinstance(node, ast.Assign) or not re.fullmatch(r"self\.\w+", ast.unparse(node.targets[0])):
            continue
        value = node.value
        while isinstance(value, ast.Call) and value.args:  # np.array((x, v))
            value = value.args[0]
        attribute = ast.unparse(node.targets[0])
        items = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        found |= {item.id: f"{attribute}[{i}]" for i, item in enumerate(items) if isinstance(item, ast.Name)}
        if isinstance(value, ast.Name):
            found[value.id] = attribute
    return found


class _NoMoves(ast.NodeTransformer):
    """Removes the marks below a statement."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name in ("body", "orelse"):
            inner = getattr(node, name, None)
            if isinstance(inner, list):
                left = [s for s in inner if not _is_move(s)]
                setattr(node, name, left or [ast.Pass()] if inner and name == "body" else left)
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
