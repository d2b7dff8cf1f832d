"""The lines of an environment's ``step`` that its reward, or the end of an episode, depends on, as they stand.

A backward slice (M. Weiser, "Program slicing", IEEE TSE 10(4), 1984) that stops at the state: a name that carries
state into the next step is read from the attribute that holds it, and never traced back. So the lines that move the
environment stay behind. What is found here is a proposal; `promptpo.spec.trial` runs it before a spec shows it.
"""

from __future__ import annotations

import ast
import builtins
import copy
import operator
import re
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

from promptpo.spec.slicing import (
    RANDOM,
    Slice,
    UnclearError,
    observation_of,
    returning,
    stored_attributes,
    with_used_results,
)
from promptpo.spec.source import Method, constant, literal, method_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    import gymnasium

PLACES = {"reward": 1, "terminated": 2}
"""What is asked for, by where it stands in what ``step`` returns."""

DEPTH = 4
"""Functions that call each other, at most."""


@dataclass(frozen=True, slots=True)
class ShownLines:
    """A proposal: functions in which ``env`` is the environment.

    Attributes:
        functions: The first one is called as `name`; where the environment moves on among its statements is open.
        names: What else they may use.
        latest: The environment moves on before this statement of the first one, if not earlier.
        words: Functions that are named and not shown, each with the first line of its documentation.
    """

    functions: list[ast.FunctionDef]
    names: dict[str, Any]
    latest: int
    words: dict[str, str] = field(default_factory=dict)


def lines_of(env: gymnasium.Env[Any, Any], name: str, most: int) -> ShownLines | None:
    """The lines of "reward" or "terminated" of the class's ``step``; None where they cannot be told.

    Args:
        env: The unwrapped environment, after a reset.
        name: What they are to compute.
        most: Characters.
    """
    step = _step_of(env)
    if step is None:
        return None
    try:
        lines = _LinesReader(env, most).read(step, name)
    except (UnclearError, RecursionError):
        return None
    return lines


def _step_of(env: gymnasium.Env[Any, Any]) -> Method | None:
    """The ``step`` that computes: not one that hands on what `super` or another method gave it."""
    for cls in type(env).__mro__:
        method = method_of(vars(cls)["step"], env) if "step" in vars(cls) else None
        if method is None or _hands_on(method):
            continue
        while len(method.body) == 1 and isinstance(method.body[0], ast.Return):
            call = method.body[0].value
            inner = method_of(_target(call.func, method), env) if isinstance(call, ast.Call) else None
            if inner is None:
                break
            method = inner
        return method
    return None


def _hands_on(step: Method) -> bool:
    """Whether a ``step`` returns the reward and the end that it got from ``super().step`` as they are."""
    given: list[str] = []
    stored = [n.id for n in ast.walk(step.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    for node in ast.walk(step.node):
        if isinstance(node, ast.Return | ast.Assign) and node.value is not None:
            if not ast.unparse(node.value).startswith("super().step("):
                continue
            if isinstance(node, ast.Return):
                return True
            target = node.targets[0]
            given = [ast.unparse(e) for e in target.elts[1:3]] if isinstance(target, ast.Tuple) else []
    returned = [
        [ast.unparse(e) for e in node.value.elts[1:3]]
        for node in ast.walk(step.node)
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple)
    ]
    return bool(given) and all(one == given for one in returned) and all(stored.count(n) == 1 for n in given)


def _target(node: ast.expr, method: Method) -> Any:
    """What an expression such as ``self.task.compute_reward`` or ``goal_distance`` stands for; None where it is unknown."""
    if isinstance(node, ast.Name):
        if node.id == _self(method):
            return method.owner
        return method.names.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _target(node.value, method)
        found = getattr(type(owner), node.attr, None)
        try:
            return found if isinstance(found, property) else getattr(owner, node.attr, None)
        except Exception:  # noqa: BLE001 - a foreign class: anything can come out of it
            return None
    return None


def _self(method: Method) -> str:
    arguments = method.node.args.args
    static = any(ast.unparse(item) == "staticmethod" for item in method.node.decorator_list)
    return arguments[0].arg if method.owner is not None and arguments and not static else ""


class _LinesReader:
    """Gathers the functions that a result is made of."""

    def __init__(self, env: gymnasium.Env[Any, Any], most: int) -> None:
        self._env, self._most = env, most
        self._root = type(env).__module__.split(".")[0]
        self._functions: dict[str, ast.FunctionDef] = {}
        self._names: dict[str, Any] = {}
        self._words: dict[str, str] = {}
        self._parts: set[str] = set()
        self._latest = 0

    def read(self, step: Method, name: str) -> ShownLines:
        entry = self._function(step, name, "env", {PLACES[name]}, 0)
        shown = "\n".join(map(ast.unparse, self._functions.values()))
        if len(shown) > self._most or RANDOM.search(shown):
            raise UnclearError
        for node in ast.walk(ast.parse(shown)):
            if isinstance(node, ast.Name) and node.id == "self":
                raise UnclearError
        functions = [entry, *(f for f in self._functions.values() if f is not entry)]
        return ShownLines(functions, self._names, min(self._latest, len(entry.body)), self._words)

    def _function(
        self, method: Method, name: str, owner: str, wanted: Collection[Any] | None, depth: int
    ) -> ast.FunctionDef:
        """One function, cut down to what it returns or, where `wanted` are attributes, to what assigns them."""
        me = _self(method)
        node = copy.deepcopy(method.node)
        node.body, node.name, node.decorator_list, node.returns = copy.deepcopy(method.body), name, [], None
        ast.fix_missing_locations(_Folder(method).visit(node))
        if depth > DEPTH or not node.body or "super()" in ast.unparse(node) or not owner:
            raise UnclearError
        observation = observation_of(node) if depth == 0 else ""
        attributes = {item for item in wanted or () if isinstance(item, str)}
        if attributes:
            _without_values(node)
        else:
            returning(node, wanted, is_step=depth == 0)
        if depth == 0:
            self._parts = _returned_attributes(node, me)
        effects = self._effects(node, method, me)
        slice_ = Slice(node, me, self._parts, effects, observation)
        node.body = slice_.cut({f"self.{name}" for name in attributes})
        self._latest = slice_.latest if depth == 0 else self._latest
        self._functions[name] = node
        self._called(node, method, me, owner, depth)
        node.args.args = [ast.arg(a.arg) for a in (*node.args.posonlyargs, *node.args.args) if a.arg != me]
        node.args.posonlyargs = []
        for argument in (*node.args.kwonlyargs, node.args.vararg, node.args.kwarg):
            if argument is not None:
                argument.annotation = None
        _Renamed({me: owner, observation: "next_obs"}).visit(node)
        ast.fix_missing_locations(node)
        self._explained(node, method)
        return node

    def _effects(self, node: ast.FunctionDef, method: Method, me: str) -> dict[str, set[str]]:
        """Method that is called as a statement to the parts of the result that it assigns."""
        found: dict[str, set[str]] = {}
        for inner in ast.walk(node):
            if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call):
                called = method_of(_target(inner.value.func, method))
                if called is not None and called.owner is method.owner and me:
                    stored = stored_attributes(called.node, _self(called))
                    found[called.node.name] = {name for name in stored if name in self._parts}
        return found

    def _called(self, node: ast.FunctionDef, method: Method, me: str, owner: str, depth: int) -> None:
        """Shows the functions of the package that the lines call, and names those that are too long."""
        unpacked: dict[str, Collection[Any]] = {
            **with_used_results(node),
            **self._assigning(node, method, me),
        }
        for inner in list(ast.walk(node)):
            reads = isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Load)
            expression = inner.func if isinstance(inner, ast.Call) else inner if reads else None
            if expression is None or not isinstance(expression, ast.Name | ast.Attribute):
                continue
            target = _target(expression, method)
            if isinstance(inner, ast.Call) == isinstance(target, property):
                continue
            home = expression.value if isinstance(expression, ast.Attribute) else None
            called = method_of(target, _target(home, method) if home is not None else None)
            if called is None or called.names.get("__name__", "").split(".")[0] != self._root:
                continue
            text = ast.unparse(home) if home is not None and called.owner is not None else "env"
            text = re.sub(rf"^{me}\b", owner, text) if me else text
            taken = {"reward", "terminated"} | {
                n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            }
            plain = (
                called.node.name
                if called.node.name not in taken and isinstance(inner, ast.Call)
                else f"get_{called.node.name}"
            )
            name = self._shown(called, plain, text, unpacked.get(ast.unparse(expression)), depth)
            if name is None:
                continue
            if isinstance(inner, ast.Call):
                inner.func = ast.Name(name, ast.Load())
            else:
                _replace(node, inner, ast.Call(ast.Name(name, ast.Load()), [], []))

    def _assigning(self, node: ast.FunctionDef, method: Method, me: str) -> dict[str, set[str]]:
        effects = self._effects(node, method, me)
        return {f"{me}.{name}": stored for name, stored in effects.items() if stored}

    def _shown(
        self, called: Method, name: str, owner: str, wanted: Collection[Any] | None, depth: int
    ) -> str | None:
        """The name under which a function is shown; None where it stays a call of the environment, in words."""
        if name in self._functions:
            return name
        before = dict(self._functions)
        try:
            self._function(called, name, owner, wanted, depth + 1)
            if sum(len(ast.unparse(f)) for f in self._functions.values()) <= self._most:
                return name
        except UnclearError:
            pass
        self._functions = before
        if not called.summary:
            raise UnclearError
        self._words[called.node.name] = called.summary
        return None

    def _explained(self, node: ast.FunctionDef, method: Method) -> None:
        """Makes sure that every name in a function is known: its own, Python's, numpy, ``env``, or one that is shown."""
        stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        own = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)} | stored
        own |= {a.arg for n in ast.walk(node) if isinstance(n, ast.Lambda) for a in n.args.args}
        for name in sorted({n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - own):
            if name in {"env", "next_obs", *self._functions} or hasattr(builtins, name):
                continue
            value = method.names.get(name)
            home = (
                value.__name__
                if isinstance(value, ModuleType)
                else getattr(value, "__module__", type(value).__module__)
            )
            if str(home).split(".")[0] not in {"numpy", "math"} and name not in self._words:
                raise UnclearError
            if self._names.setdefault(name, value) is not value:
                raise UnclearError


class _Folder(ast.NodeTransformer):
    """Constants of the instance and its module by their values, without the branches that they rule out."""

    def __init__(self, method: Method) -> None:
        self._method = method
        stored = {
            n.id for n in ast.walk(method.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        self._own = stored | {a.arg for a in ast.walk(method.node) if isinstance(a, ast.arg)}

    def _value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name) and node.id not in self._own:
            return literal(self._method.names[node.id])
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
            owner = _target(node.value, self._method)
            if owner is None or isinstance(owner, property | ModuleType):
                raise LookupError
            return constant(owner, node.attr)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
            table = _target(node.value, self._method)
            constant_name = node.value.attr
            if isinstance(table, dict) and isinstance(node.slice, ast.Constant):
                owner = _target(node.value.value, self._method)
                _unchanged(owner, constant_name)
                return literal(table[node.slice.value])
        raise LookupError

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Load):
            try:
                text = re.sub(r"\binf\b", "np.inf", repr(self._value(node)))
            except (LookupError, TypeError):
                return self.generic_visit(node)
            return ast.parse(text, mode="eval").body
        return super().visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        self.generic_visit(node)
        return ast.copy_location(ast.Assign([node.target], node.value), node) if node.value else None

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        known = _decided(node.test)
        return node if known is None else (node.body if known else node.orelse)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        known = _decided(node.test)
        return node if known is None else node.body if known else node.orelse

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        neutral = isinstance(node.op, ast.And)
        if any(_decided(value) is (not neutral) for value in node.values):
            return ast.Constant(not neutral)
        kept = [value for value in node.values if _decided(value) is not neutral]
        return node if len(kept) > 1 else kept[0] if kept else ast.Constant(neutral)


def _unchanged(owner: Any, name: str) -> None:
    """Raises LookupError where an attribute, whatever it holds, is changed after construction."""
    try:
        constant(owner, name)
    except LookupError as fault:
        if fault.args and fault.args[0] == name:
            raise


_COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}


def _decided(test: ast.expr) -> bool | None:
    """What a condition of constants comes to; None where it is open."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _decided(test.operand)
        return None if inner is None else not inner
    try:
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _COMPARED:
            left, right = ast.literal_eval(test.left), ast.literal_eval(test.comparators[0])
            return bool(_COMPARED[type(test.ops[0])](left, right))
        return bool(ast.literal_eval(test))
    except (ValueError, TypeError):
        return None


def _without_values(node: ast.FunctionDef) -> None:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Return):
            inner.value = None


def _returned_attributes(node: ast.FunctionDef, me: str) -> set[str]:
    """The attributes that a function returns as they are: ``return ..., self.reward, ...``."""
    values = [n.value for n in ast.walk(node) if isinstance(n, ast.Return)]
    return {
        v.attr
        for v in values
        if isinstance(v, ast.Attribute) and isinstance(v.value, ast.Name) and v.value.id == me
    }


class _Renamed(ast.NodeTransformer):
    """Names by other ones, or by what an expression such as "env.task" says."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self._names:
            return node
        found = ast.parse(self._names[node.id], mode="eval").body
        if isinstance(found, ast.Name):
            found.ctx = node.ctx
        return found


def _replace(root: ast.AST, old: ast.AST, new: ast.AST) -> None:
    """Puts one node of a tree in another's place."""
    for parent in ast.walk(root):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list) and any(item is old for item in value):
                value[:] = [new if item is old else item for item in value]


def variables_in(functions: Collection[ast.FunctionDef]) -> tuple[str, ...]:
    """The variables of the environment that code reads, such as ``env.state[0]``, in order; calls end a name."""
    found: dict[str, None] = {}
    for tree in functions:
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        for node in _outermost(tree):
            while id(node) in called and isinstance(node, ast.Attribute):
                node = node.value  # noqa: PLW2901 - env.lamps.sum() reads env.lamps
            if not isinstance(node, ast.Name) and not isinstance(getattr(node, "ctx", None), ast.Store):
                found[ast.unparse(node)] = None
    return tuple(found)


def _outermost(node: ast.AST) -> Iterator[ast.expr]:
    """The longest chains of attributes and constant subscripts that begin with ``env``."""
    if isinstance(node, ast.Attribute | ast.Subscript | ast.Name) and re.fullmatch(
        r"env(\.\w+|\[-?\d*(:-?\d*)?\])*", ast.unparse(node)
    ):
        yield node
        return
    for child in ast.iter_child_nodes(node):
        yield from _outermost(child)
