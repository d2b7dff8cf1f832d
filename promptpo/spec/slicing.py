"""Cutting a method down to the statements that its result depends on."""

from __future__ import annotations

import ast
import copy
import re
from typing import TYPE_CHECKING

from promptpo.spec.source import changed_in_place

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

RANDOM = re.compile(
    r"\b(np_random|random|rng|sample|rvs|categorical_sample|step|Step|advance|simulate|do_simulation|stepSimulation|rk4|odeint"
    r"|solve_ivp)\(|\b(np_random|rng|random)\."
)
"""Calls that draw random numbers or move the environment: nothing that uses their results is shown."""

KEPT = re.compile(r"reward|shaping|score|cost|bonus|penalty|return|prev|last", re.IGNORECASE)
"""Names of attributes that are a part of the reward: their assignments are lines that it depends on."""


class UnclearError(Exception):
    """The lines cannot be told from those that move the environment."""


class Slice:
    """A backward slice of one method.

    Args:
        node: The method; it is changed.
        me: What it calls the object whose method it is; empty for a plain function.
        parts: Attributes that the result depends on wherever they are assigned, beside those that `KEPT` knows.
        effects: Method of the object to the attributes that it assigns.
        observation: The local name of the observation that ``step`` returns; empty where there is none.

    Attributes:
        latest: The first statement that reads what is so only after the environment has moved on.
    """

    def __init__(
        self,
        node: ast.FunctionDef,
        me: str,
        parts: Collection[str],
        effects: Mapping[str, Collection[str]],
        observation: str = "",
    ) -> None:
        self._node, self._me, self._effects, self._observation = node, me, effects, observation
        self._parts = parts
        self.latest = len(node.body) + len(node.args.args)

    def cut(self, wanted: Collection[str] = ()) -> list[ast.stmt]:
        """The statements that the returned value, or `wanted` names, depend on; state is read from where it is kept.

        Raises:
            UnclearError: It cannot be told from what moves the environment.
        """
        held = self._held()
        opaque = self._opaque() | (held.keys() & self._computed())
        returns = [n for n in ast.walk(self._node) if isinstance(n, ast.Return)]
        needed = set(wanted).union(*map(self._names, returns))
        while True:
            body = self._kept(self._node.body, needed, opaque | {self._observation})
            more = needed.union(*map(self._names, body))
            if more == needed:
                break
            needed = more
        loaded = {
            n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        }
        unknown = (loaded & opaque) - {self._observation}
        if not body or not unknown <= held.keys():
            raise UnclearError
        for name in sorted(unknown):
            first = next(i for i, s in enumerate(body) if name in self._names(s))
            body.insert(first, ast.Assign([ast.Name(name, ast.Store())], copy.deepcopy(held[name]), lineno=0))
            self.latest = min(first, self.latest)
        if RANDOM.search("\n".join(ast.unparse(ast.fix_missing_locations(s)) for s in body)):
            raise UnclearError
        return body

    def _is_part(self, attribute: str) -> bool:
        return attribute in self._parts or KEPT.search(attribute) is not None

    def _names(self, node: ast.AST) -> set[str]:
        """Local names that a piece of code mentions, and attributes that are a part of the result as "self.x"."""
        found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - {self._me}
        for n in ast.walk(node):
            if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == self._me:
                found |= {f"self.{n.attr}"} if self._is_part(n.attr) else set()
        return found

    def _base(self, node: ast.expr) -> str:
        """What an assignment to ``x[0]``, ``self.x`` or ``x`` changes: "x" or "self.x"."""
        while isinstance(node, ast.Subscript | ast.Starred):
            node = node.value
        if isinstance(node, ast.Attribute):
            own = isinstance(node.value, ast.Name) and node.value.id == self._me
            return f"self.{node.attr}" if own else self._base(node.value)
        return node.id if isinstance(node, ast.Name) else ""

    def _kept(self, body: list[ast.stmt], needed: Collection[str], opaque: Collection[str]) -> list[ast.stmt]:
        return [kept for statement in body if (kept := self._keep(statement, needed, opaque)) is not None]

    def _keep(self, statement: ast.stmt, needed: Collection[str], opaque: Collection[str]) -> ast.stmt | None:
        """A statement if it decides a needed name, cut down to what of it does; None otherwise."""
        if isinstance(statement, ast.Return):
            return statement
        if isinstance(statement, ast.If | ast.For | ast.While | ast.With):
            inner, other = (
                self._kept(getattr(statement, part, []), needed, opaque) for part in ("body", "orelse")
            )
            if not inner and not other:
                return None
            cut = copy.copy(statement)
            cut.body = inner or [ast.Pass()]
            if not isinstance(cut, ast.With):
                cut.orelse = other
            return cut
        if isinstance(statement, ast.FunctionDef):
            return statement if statement.name in needed else None
        if isinstance(statement, ast.Break | ast.Continue):
            return statement
        changed = {self._base(target) for target in targets(statement)}
        if isinstance(statement, ast.Expr):
            collection = changed_in_place(statement.value)
            changed |= {self._base(collection)} if collection is not None else set()
            called = re.match(rf"{self._me}\.(\w+)\(", ast.unparse(statement))
            changed |= {f"self.{name}" for name in self._effects.get(called[1] if called else "", ())}
        wanted = changed & set(needed) - set(opaque)
        if isinstance(statement, ast.Try) and wanted:
            raise UnclearError
        return statement if wanted else None

    def _computed(self) -> set[str]:
        """Names that are more than one reading of what is kept."""
        stored = [
            n.id for n in ast.walk(self._node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        ]
        read = {
            self._base(target)
            for n in ast.walk(self._node)
            if isinstance(n, ast.Assign) and is_reading(n.value)
            for target in targets(n)
        }
        return {name for name in stored if stored.count(name) > 1 or name not in read}

    def _opaque(self) -> set[str]:
        """Names that carry state into the next step, but for those that only say again what the action is."""
        assigned: dict[str, list[ast.expr]] = {}
        carried: set[str] = set()
        for statement in ast.walk(self._node):
            if not isinstance(statement, ast.Assign | ast.AugAssign | ast.For):
                continue
            value = statement.iter if isinstance(statement, ast.For) else statement.value
            for base in map(self._base, targets(statement)):
                if base.startswith("self.") and not self._is_part(base):
                    carried |= {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
                elif base:
                    assigned.setdefault(base, []).append(value)
        read = {name for name, values in assigned.items() if len(values) == 1 and is_reading(values[0])}
        return (carried & assigned.keys()) - self._given(assigned) - read - {self._me}

    def _given(self, assigned: Mapping[str, list[ast.expr]]) -> set[str]:
        """Names that depend on the arguments and on constants alone: ``door, fans = int(action[0]), int(action[1])``."""
        given = {a.arg for a in ast.walk(self._node.args) if isinstance(a, ast.arg)} - {self._me} | set(
            assigned
        )
        while True:
            others = {self._me, *assigned} - given
            left = {
                name
                for name in given
                if not RANDOM.search("\n".join(map(ast.unparse, assigned.get(name, []))))
                and not any(
                    isinstance(n, ast.Name) and n.id in others
                    for v in assigned.get(name, [])
                    for n in ast.walk(v)
                )
            }
            if left == given:
                return given
            given = left

    def _held(self) -> dict[str, ast.expr]:
        """Local name to the attribute that holds it after the step: ``self.state = (x, v)`` keeps x as self.state[0]."""
        found: dict[str, ast.expr] = {}
        for statement in self._node.body:  # below a condition it holds something else at times
            base = self._base(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
            if not isinstance(statement, ast.Assign) or not base.startswith("self.") or self._is_part(base):
                continue
            target, value = copy.deepcopy(statement.targets[0]), statement.value
            for part in ast.walk(target):
                if isinstance(part, ast.Attribute | ast.Subscript):
                    part.ctx = ast.Load()
            while isinstance(value, ast.Call) and value.args:  # np.array((x, v))
                value = value.args[0]
            if isinstance(value, ast.Tuple | ast.List):
                for index, item in enumerate(value.elts):
                    if isinstance(item, ast.Name):
                        found[item.id] = ast.Subscript(target, ast.Constant(index), ast.Load())
            elif isinstance(value, ast.Name):
                found[value.id] = target
        return found


def is_reading(value: ast.expr) -> bool:
    """Whether a value is merely read: ``self.hull.position``, ``self.state[0].copy()``."""
    return re.fullmatch(r"\w+(\.\w+|\[[\w:, -]+\])+(\.copy\(\))?", ast.unparse(value)) is not None


def targets(statement: ast.stmt) -> list[ast.expr]:
    """What a statement assigns to."""
    whole = (
        statement.targets
        if isinstance(statement, ast.Assign)
        else [statement.target]
        if isinstance(statement, ast.AugAssign | ast.For)
        else []
    )
    return [
        item
        for target in whole
        for item in (target.elts if isinstance(target, ast.Tuple | ast.List) else [target])
    ]


def observation_of(node: ast.FunctionDef) -> str:
    """The local variable that holds the observation which ``step`` returns; empty where there is none."""
    returned = [n.value for n in ast.walk(node) if isinstance(n, ast.Return)]
    value = returned[-1] if returned else None
    first = value.elts[0] if isinstance(value, ast.Tuple) and value.elts else None
    while isinstance(first, ast.Call) and first.args:
        first = first.args[0]
    return first.id if isinstance(first, ast.Name) else ""


def returning(node: ast.FunctionDef, wanted: Collection[int] | None, *, is_step: bool) -> None:
    """Make every return of a function give the wanted elements only; None stands for all.

    Raises:
        UnclearError: It returns something else than a tuple of them.
    """
    found = [n for n in ast.walk(node) if isinstance(n, ast.Return)]
    if not found or any(n.value is None for n in found):
        raise UnclearError
    for one in found if wanted is not None else ():
        if not isinstance(one.value, ast.Tuple) or (is_step and len(one.value.elts) not in {4, 5}):
            raise UnclearError
        elements = [e for i, e in enumerate(one.value.elts) if i in (wanted or ())]
        if not elements:
            raise UnclearError
        one.value = elements[0] if len(elements) == 1 else ast.Tuple(elements, ast.Load())


def with_used_results(node: ast.FunctionDef) -> dict[str, frozenset[int]]:
    """Callee to the elements of its result that are used: ``a, _, c = self.f()``; the others go from the code."""
    used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    found: dict[str, frozenset[int]] = {}
    for statement in ast.walk(node):
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
            continue
        name, target = ast.unparse(statement.value.func), statement.targets[0]
        if not isinstance(target, ast.Tuple) or ast.unparse(node).count(f"{name}(") > 1:
            continue
        picked = [i for i, item in enumerate(target.elts) if isinstance(item, ast.Name) and item.id in used]
        if picked and len(picked) < len(target.elts):
            found[name] = frozenset(picked)
            kept = [target.elts[i] for i in picked]
            statement.targets[0] = kept[0] if len(kept) == 1 else ast.Tuple(kept, ast.Store())
    return found


def stored_attributes(node: ast.AST, me: str) -> set[str]:
    """The attributes of an object that a method assigns."""
    return {
        n.attr
        for n in ast.walk(node)
        if isinstance(n, ast.Attribute)
        and isinstance(n.ctx, ast.Store)
        and isinstance(n.value, ast.Name)
        and n.value.id == me
    }
