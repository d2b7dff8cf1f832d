"""Running what a spec is to say of the reward and the end beside the steps that are taken, before it is said."""

from __future__ import annotations

import ast
import contextlib
import copy
import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.spec.evaluated import evaluated
from promptpo.spec.functions import Level, arguments_of, levels_of, read_in, results_of, stored_in
from promptpo.spec.slicing import LAST, Sliced, moves_within, sets, sliced
from promptpo.spec.values import Columns, Tie, columns, equal, tie

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import CodeType, FrameType

    import gymnasium

RESULTS = {"reward": 1, "terminated": 2}
CLOSE = 1e-4
"""Of the largest result the most, and of the median the median, by which arithmetic in 32 bits may be off."""

WIDEST = 8
"""Numbers of an attribute that may name a part of the observation."""

ENOUGH_ROWS = 60
"""Steps that are watched for names alone, where no lines are left to run."""

LARGEST, MOST_ROWS = 400, 300
"""Numbers of a variable, and steps, that are kept to compare it with observations."""


class _View:
    """The environment as shown code sees it: what the code assigns stays here."""

    def __init__(self, env: Any) -> None:
        self.__dict__["_viewed"] = env

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_viewed"], name)


class _ReturnedError(Exception):
    """What a line returns."""


class _Raising(ast.NodeTransformer):
    """Lines that raise what they return, so that they can run one by one."""

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        """A line."""
        value = node.value or ast.Constant(None)
        return ast.Raise(ast.Call(ast.Name(_ReturnedError.__name__, ast.Load()), [value], []))


class Proposal:
    """Lines that run in the midst of the function that they were taken from, each just before the function runs it.

    Attributes:
        lines: Of the function, at its top level.
        failed: Whether they raised, or used a name with another value than it has at the end.
        told: What the environment gave.
        given: What they gave.
        value: What they gave in this step.
    """

    def __init__(self, lines: Sliced) -> None:
        self.lines, self.failed = lines, False
        self.told: list[float] = []
        self.given: list[float] = []
        self.value: Any = None
        self._parts = [
            (getattr(one, "lineno", LAST), read_in(one, lines.level.me) & lines.cut, _compiled(one))
            for one in lines.body
        ]
        self._waiting = self._parts[:0]
        self._space: dict[str, Any] = {}
        self._used: dict[str, Any] = {}

    def begin(self, names: Mapping[str, Any]) -> None:
        """The function is called."""
        level = self.lines.level
        given = {n: _kept(names[n]) for n in arguments_of(level)}
        given |= {level.me: _View(level.owner), _ReturnedError.__name__: _ReturnedError}
        self._space, self._used, self.value = {**level.names, **given}, {}, None
        self._waiting = list(self._parts)

    def reach(self, line: int, names: Mapping[str, Any]) -> None:
        """The function comes to a line."""
        while self._waiting and self._waiting[0][0] <= line:
            _, reads, code = self._waiting.pop(0)
            self._used |= {n: _kept(names[n]) for n in reads if n in names}
            try:
                self._space |= self._used
                exec(code, self._space)  # noqa: S102 - lines of the environment's own class, which runs in this process anyway
            except _ReturnedError as done:
                self.value, self._waiting = done.args[0], []
            except Exception:  # noqa: BLE001 - code that fails is not shown
                self.failed, self._waiting = True, []

    def end(self, names: Mapping[str, Any]) -> None:
        """The function returns: what a name is told to be, it has to have been where it was used."""
        self.reach(LAST, names)
        used = {name: _numbers(value) for name, value in self._used.items()}
        now = {name: _numbers(names.get(name)) for name in used}
        self.failed |= not all(one is None or np.array_equal(one, now[name]) for name, one in used.items())

    def compare(self, told: Any) -> None:
        """Hold what the last run gave beside what the environment returned."""
        try:
            self.given.append(float(np.asarray(self.value, dtype=float).reshape(())))
            self.told.append(float(told))
        except (TypeError, ValueError):
            self.failed = True

    @property
    def right(self) -> bool:
        """Whether every recorded result was given."""
        if self.failed or not self.told:
            return False
        if min(self.told) == max(self.told) and moves_within(self.lines):
            return False  # nothing tells whether what is left out matters
        errors, size = np.abs(np.array(self.given) - self.told), np.abs(self.told)
        return bool(errors.max() <= CLOSE * size.max() and np.median(errors) <= CLOSE * np.median(size))


def _compiled(line: ast.stmt) -> CodeType:
    raising = _Raising().visit(copy.deepcopy(line))
    return compile(ast.fix_missing_locations(ast.Module([raising], [])), "<a line of step>", "exec")


@dataclass
class Moment:
    """What a step's variables held.

    Attributes:
        values: At the end of each function.
        before: At its begin.
        large: Those that are no flat arrays.
        whole: Those of these that equal the observation, or hold it alone, and how a policy writes that.
        own: The environment's attributes after the step.
        seen: Observation, action and next observation.
    """

    values: dict[str, Any] = field(default_factory=dict)
    before: dict[str, Any] = field(default_factory=dict)
    large: dict[str, Any] = field(default_factory=dict)
    whole: dict[str, str] = field(default_factory=dict)
    own: dict[str, Any] = field(default_factory=dict)
    seen: tuple[Any, Any, Any] | None = None


@dataclass
class SpecTrial:
    """Proposals that run beside the steps of an environment.

    In a first episode it notes what names hold; then lines are proposed, and run beside the others.

    Attributes:
        env: Unwrapped.
        levels: "reward" and "terminated" to the functions that may compute them.
        paths: Of each function the attributes that it reads.
        steps: How many were compared.
        disturbed: Whether running the lines changed what the environment does.
    """

    env: gymnasium.Env[Any, Any]
    levels: Mapping[str, Sequence[Level]]
    paths: Mapping[CodeType, Sequence[str]]
    candidates: dict[str, list[Proposal]] = field(default_factory=dict)
    rows: list[Moment] = field(default_factory=list)
    steps: int = 0
    disturbed: bool = False
    _now: Moment = field(default_factory=Moment)
    _inside: set[CodeType] = field(default_factory=set)
    _returned: Any = None

    @classmethod
    def of(cls, env: gymnasium.Env[Any, Any]) -> SpecTrial:
        """Proposals for an unwrapped environment that has been reset."""
        levels = {name: levels_of(env, index) for name, index in RESULTS.items()}
        paths: dict[CodeType, set[str]] = {}
        for one in (one for found in levels.values() for one in found):
            paths.setdefault(one.code, set()).update(_paths(one))
        return cls(env, levels, {code: sorted(found) for code, found in paths.items()})

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """Runs the proposals at every step of the unwrapped environment, whatever wrappers call it."""
        self._now, self._returned = Moment(), None
        self._inside = set()
        previous = sys.gettrace()
        open_ = not self.candidates or any(self._running(code) for code in self.paths)
        sys.settrace(self._called if self.paths and (open_ or len(self.rows) < ENOUGH_ROWS) else previous)
        try:
            yield
        finally:
            sys.settrace(previous)
        if not isinstance(self._returned, tuple):
            return
        self.steps += 1
        for name, found in self.candidates.items():
            for one in found:
                if not one.failed:
                    one.compare(self._returned[RESULTS[name]])
                one.value = None

    def _running(self, code: CodeType) -> list[Proposal]:
        """The proposals of a function that have not failed."""
        every = (one for found in self.candidates.values() for one in found)
        return [one for one in every if not one.failed and one.lines.level.code is code]

    def _called(self, frame: FrameType, event: str, value: Any) -> Any:
        """Called by Python where a function is called; what it returns is called at each of its lines, and at its end."""
        del event, value
        code = frame.f_code
        if code not in self.paths or code in self._inside:
            return None
        level = next(one for found in self.levels.values() for one in found if one.code is code)
        if level.me and frame.f_locals.get(level.me) is not level.owner:
            return None
        self._inside.add(code)
        running = self._running(code)
        self._note(self._now.before, level, frame.f_locals)
        for one in running:
            one.begin(frame.f_locals)

        def follow(frame: FrameType, event: str, value: Any) -> Any:
            names = frame.f_locals
            for one in running:
                if event == "line":
                    one.reach(frame.f_lineno - code.co_firstlineno + 1, names)
                elif event == "return":
                    one.end(names)
            if event == "return":
                self._inside.discard(code)
                self._note(self._now.values, level, names)
                large = {n: v for n, v in names.items() if isinstance(v, dict | tuple | np.ndarray)}
                self._now.large |= {level.key(name): held for name, held in large.items()}
                self._returned = value if level is self.levels["reward"][0] else self._returned
            return follow

        return follow

    def _note(self, into: dict[str, Any], level: Level, names: Mapping[str, Any]) -> None:
        for name, value in names.items():
            if (kept := _numbers(value)) is not None:
                into[level.key(name)] = kept
        for one in self.paths[level.code]:
            if (kept := _numbers(_at(level.owner, one))) is not None:
                into[level.key(f".{one}")] = kept

    def seen(self, observation: Any, action: Any, following: Any, *, ended: bool) -> None:
        """Keep the variables of the last step with what a policy saw before it, did, and saw after it."""
        if ended or len(self.rows) < MOST_ROWS:  # what ends an episode is rare, and tells most
            self._now.seen = (observation, action, following)
            written = {name: _written(value, following) for name, value in self._now.large.items()}
            self._now.whole = {name: path for name, path in written.items() if path}
            self._now.large = {}
            held = {name: _numbers(value) for name, value in vars(self.env).items()}
            self._now.own = {
                name: value for name, value in held.items() if value is not None and value.size <= WIDEST
            }
            self.rows.append(self._now)

    def propose(self, observation_space: Any, action_space: Any) -> None:
        """Propose lines, cut at names whose values a policy knows."""
        sides = self.sides(observation_space, action_space)
        for name, levels in self.levels.items():
            self.candidates[name] = [
                Proposal(lines) for level in levels for lines in self._proposals(level, sides)
            ]

    def _proposals(self, level: Level, sides: Columns) -> Iterator[Sliced]:
        """Lines cut at names of known values, then at those of them that are assigned once, then at none."""
        stored = [
            n.id for n in ast.walk(level.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        ]
        told = arguments_of(level) | {ast.unparse(one) for one in results_of(level)}
        known = {name for name in {*stored} - told if self.tied(level.key(name), sides).path}
        once = {name for name in known if stored.count(name) == 1}
        for cut in dict.fromkeys(map(frozenset, (known, once, set()))):
            lines = sliced(level, set(cut))
            if lines is not None and cut:  # a line that stays tells what it assigns
                lines = sliced(level, set(cut) - {name for one in lines.body for name in stored_in(one)})
            begun = self.tied(level.key(f".{level.attribute}"), sides, before=True)
            if lines is not None and (not level.attribute or sets(lines) or begun.constant):
                yield lines  # others would say that the result is what it was, and something more

    def sides(self, observation_space: Any, action_space: Any) -> Columns:
        """What a policy saw after each step, saw before it, and did."""
        seen = [row.seen for row in self.rows if row.seen is not None]
        after, before = ([_within(observation_space, one[at]) for one in seen] for at in (2, 0))
        return [
            *columns(observation_space, after, "next_obs"),
            *columns(observation_space, before, "obs"),
            *columns(action_space, [one[1] for one in seen], "action"),
        ]

    def tied(self, key: str, sides: Columns, *, before: bool = False) -> Tie:
        """What a variable is to a policy, at the end of the function that holds it or before it."""
        paths = set() if before else {row.whole.get(key, "") for row in self.rows}
        if len(paths) == 1 and (path := paths.pop()):
            return Tie(path, copied=True)
        if before:
            sides = sorted(sides, key=lambda one: one[0].startswith("next_obs"))
        return tie([(row.before if before else row.values).get(key) for row in self.rows], sides) or Tie()

    def names(self, observation_space: Any) -> dict[str, str]:
        """What the environment itself calls numbers of the observation: path to the one attribute that always equals it."""
        seen = columns(
            observation_space,
            [_within(observation_space, row.seen[2]) for row in self.rows if row.seen],
            "obs",
        )
        found: dict[str, set[str]] = {}
        for name in {name for row in self.rows for name in row.own}:
            tied = tie([row.own.get(name) for row in self.rows], seen)
            if tied is not None and tied.path and tied.scale is None and not tied.constant:
                found.setdefault(tied.path, set()).add(name)
        return {path: names.pop() for path, names in found.items() if len(names) == 1}

    def settle(self) -> None:
        """Go on with the first proposal of each that has passed so far."""
        for found in self.candidates.values():
            found[:] = [one for one in found if one.right][:1]

    def passed(self, name: str) -> Proposal | None:
        """The first proposal that gave every recorded result; None where none did."""
        return next((one for one in self.candidates.get(name, ()) if one.right and not self.disturbed), None)


def _written(value: Any, following: Any) -> str:
    """How a policy writes a variable that is the observation, or a tuple of it alone; empty for any other."""
    if equal(value, following):
        return "next_obs"
    return "(next_obs,)" if isinstance(value, tuple) and equal(value, (following,)) else ""


def _within(space: Any, observation: Any) -> Any:
    """The observation without the number of its variant, where the space has none."""
    shown = isinstance(observation, dict) and not isinstance(space, spaces.Dict)
    return observation["observation"] if shown else observation


def _paths(level: Level) -> list[str]:
    """Chains of attributes of a level's object that it, or methods that it calls, read."""
    lines = sliced(level, set())
    helpers = lines.helpers.values() if lines is not None else ()
    found = set()
    for one in (level, *helpers):
        if one.me and one.path.startswith(level.path):
            inner = one.path.removeprefix(level.path).lstrip(".")
            found |= {f"{inner}.{chain}" if inner else chain for chain in _chains(one.node, one.me)}
    return sorted(found)


def _chains(tree: ast.AST, me: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Subscript):
            text = ast.unparse(node)
            if re.fullmatch(rf"{me}(\.\w+|\[-?\d*(:-?\d*)?\])+", text):
                yield text.removeprefix(f"{me}.")


def _at(owner: Any, chain: str) -> Any:
    """What a chain such as ``data.qpos[0]`` holds now; None where it cannot be read."""
    try:
        return evaluated(f"owner.{chain}", {"owner": owner})
    except Exception:  # noqa: BLE001 - a property of a foreign class: anything can come out of it
        return None


def _kept(value: Any) -> Any:
    """A copy of plain values; objects stay what they are."""
    plain = isinstance(value, bool | int | float | str | list | tuple | dict | set | np.ndarray | np.generic)
    try:
        return copy.deepcopy(value) if plain else value
    except Exception:  # noqa: BLE001 - a container of foreign objects
        return value


def _numbers(value: Any) -> Any:
    """A copy of a number, or of a flat array or list of them; None for anything else."""
    plain = isinstance(value, bool | int | float | np.number | np.bool_ | np.ndarray)
    if not plain and not (isinstance(value, list | tuple) and 0 < len(value) <= LARGEST):
        return None
    try:
        found = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if found.ndim <= 1 and 0 < found.size <= LARGEST else None
