"""Cutting out of a method what decides its result, and nothing of what moves the environment.

A backward slice after Weiser (1984), with one more rule: variables that carry the environment's state
into the next step are never traced back. What remains is how the reward follows from the state, the
action and the observation; how the state follows from the action stays behind.
"""

from __future__ import annotations

import ast
import builtins
import copy
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
    state -= _decoded(function, parameters)
    state |= _carried(function)
    if is_step:
        state.add("info")
    observation = _observation_name(returns) if is_step else None
    for node in returns:
        if wanted is not None and isinstance(node.value, ast.Tuple):
            elements = [e for i, e in enumerate(node.value.elts) if i in wanted]
            node.value = elements[0] if len(elements) == 1 else ast.Tuple(elements, ast.Load())
    needed = set().union(*(_names(node.value) for node in returns if node.value is not None))
    body = _body_for(function, needed, state - _plain_readings(function))
    stored = _stored_as(function)
    body = function.body = _with_moves_between(body)
    if not body or RANDOM.search("\n".join(map(ast.unparse, body))):
        return None
    for name in ast.walk(function):
        if isinstance(name, ast.Name) and name.id == observation:
            name.id = "next_obs"
    unknown = (_locals(function, ast.Load) & state) - _locals(function, ast.Store) - parameters - {"info"}
    return Slice(
        ast.fix_missing_locations(function), {name: stored.get(name, "") for name in sorted(unknown)}
    )


def _body_for(function: Function, needed: set[str], opaque: set[str]) -> list[ast.stmt]:
    """The statements that `needed` names depend on, `opaque` ones never traced back."""
    while True:
        before = len(needed)
        body = _kept(function.body, needed, opaque)
        needed |= set().union(*map(_names, body))
        if any(re.search(r"\bself\.\w+\(", ast.unparse(ast.fix_missing_locations(s))) for s in body):
            needed.add(OWN_CALLS)
        if len(needed) == before:
            return body


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
            kept = copy.copy(statement)
            kept.body = body or [ast.Pass()]
            if not isinstance(kept, ast.With):
                kept.orelse = orelse if isinstance(kept, ast.If) else []
            return kept
        return _move() if body or orelse else None
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if any(_wanted(target, needed, opaque) for target in targets):
            return statement
        matters = _stored(targets) & needed or OWN_CALLS in needed
        counts = re.fullmatch(r"self\.\w+ \+= 1", ast.unparse(statement)) and not _stored(targets) & needed
        moves = (_stored(targets) and matters and not counts) or RANDOM.search(ast.unparse(statement))
        return _move() if moves else None
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        changed = changed_in_place(statement.value)
        if changed in needed and changed not in opaque:
            return statement
        return _move() if _reads_self(statement) else None
    return None


def _stored(targets: Sequence[ast.expr]) -> set[str]:
    """The environment's attributes that an assignment changes: "self.x" for ``self.x[0] = ...`` too."""
    items = (re.match(r"self\.\w+", ast.unparse(item)) for target in targets for item in _targets(target))
    return {match[0] for match in items if match}


def _wanted(target: ast.expr, needed: set[str], opaque: set[str]) -> bool:
    if isinstance(target, ast.Tuple | ast.List):
        return any(_wanted(item, needed, opaque) for item in target.elts)
    if isinstance(target, ast.Name):
        return target.id in needed and target.id not in opaque
    if isinstance(target, ast.Subscript):
        return _wanted(target.value, needed, opaque)
    dotted = ast.unparse(target)
    return dotted in needed and bool(REWARDING.search(dotted))


def _state_names(function: Function, returns: Sequence[ast.Return], *, is_step: bool) -> Iterator[str]:
    """Local names that carry the environment's state from or into its attributes."""
    for node in (part for part in ast.walk(function) if isinstance(part, ast.Assign)):
        for target in node.targets:
            if any(isinstance(t, ast.Attribute) and not REWARDING.search(t.attr) for t in _targets(target)):
                yield from _locals(node.value)
            elif isinstance(target, ast.Tuple) and re.fullmatch(r"self\.\w+", ast.unparse(node.value)):
                yield from _locals(target)
    for returned in returns if is_step else ():
        if isinstance(returned.value, ast.Tuple) and returned.value.elts:
            yield from _locals(returned.value.elts[0])


def _decoded(function: Function, parameters: Collection[str]) -> set[str]:
    """Names that only say again what the method was given: ``door, fans = int(action[0]), int(action[1])``."""
    assigned: dict[str, list[ast.expr]] = {}
    for node in (part for part in ast.walk(function) if isinstance(part, ast.Assign)):
        for target in node.targets:
            for name in _locals(target, ast.Store):
                assigned.setdefault(name, []).append(node.value)
    stored = [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    decoded = {name for name, values in assigned.items() if stored.count(name) == len(values)}
    while True:
        others = set(stored) - decoded - set(parameters)
        left = {
            name
            for name in decoded
            if not any(_names(value) & others or _reads_self(value) for value in assigned[name])
            and not RANDOM.search("".join(map(ast.unparse, assigned[name])))
        }
        if left == decoded:
            return decoded
        decoded = left


def _targets(target: ast.expr) -> list[ast.expr]:
    return list(target.elts) if isinstance(target, ast.Tuple | ast.List) else [target]


def _plain_readings(function: Function) -> set[str]:
    """Names assigned once, from something that is merely read: ``pos = self.hull.position``."""
    stored = [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    plain = {
        name
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        and re.fullmatch(r"self(\.\w+|\[\w+\])+(\.copy\(\))?", ast.unparse(node.value))
        for target in node.targets
        for name in _locals(target)
    }
    return {name for name in plain if stored.count(name) == 1}


def _observation_name(returns: Sequence[ast.Return]) -> str | None:
    """The local variable that holds the observation which ``step`` returns; None where there is none."""
    value = returns[-1].value
    first = value.elts[0] if isinstance(value, ast.Tuple) and value.elts else None
    while isinstance(first, ast.Call) and first.args:
        first = first.args[0]
    return first.id if isinstance(first, ast.Name) else None


def _names(node: ast.AST, ctx: type[ast.expr_context] = ast.expr_context) -> set[str]:
    """Local names and ``self.attributes`` that a piece of code mentions, or that it loads or stores only."""
    found = _locals(node, ctx)
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "self":
            found.add(f"self.{part.attr}")
    return found


def _locals(node: ast.AST, ctx: type[ast.expr_context] = ast.expr_context) -> set[str]:
    """Local names that a piece of code mentions."""
    found = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ctx)}
    return found - {"self", "np", "math"}


def _reads_self(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Name) and part.id == "self" for part in ast.walk(node))


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
        inside = not _is_move(statement) and MOVED in _locals(statement)
        _drop_moves(statement)
        spread += [statement, _move()] if inside else [statement]
    reads = [not _is_move(s) and _reads_self(s) for s in spread]
    read = [index for index, reading in enumerate(reads) if reading]
    marks = [index for index, statement in enumerate(spread) if _is_move(statement)]
    kept = [index for index in marks if read and read[0] < index < read[-1]]
    if not kept and read and marks and marks[0] > read[-1]:
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


def _drop_moves(statement: ast.stmt) -> None:
    """Remove the marks below a statement."""
    for node in ast.walk(statement):
        for name in ("body", "orelse"):
            inner = getattr(node, name, None)
            if isinstance(inner, list) and inner:
                left = [s for s in inner if not _is_move(s)]
                setattr(node, name, left or ([ast.Pass()] if name == "body" else []))
