"""Running what a spec is to say of the reward and the end beside the steps that are taken, before it is said."""

from __future__ import annotations

import ast
import contextlib
import copy
import itertools
import math
import re
import sys
import textwrap
from collections import Counter
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from promptpo.envs.spaces import equal
from promptpo.spec.functions import helpers_of, step_of
from promptpo.spec.known import evaluated
from promptpo.spec.names import locals_of, read_in
from promptpo.spec.slicing import Sliced, sliced
from promptpo.spec.values import Columns, Tie, columns, table_of, tie

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import FrameType

    import gymnasium


RESULTS = {"reward": 1, "terminated": 2, "truncated": 3}
CLOSE = 1e-4
"""Of the largest result the most, and of the median the median, by which arithmetic in 32 bits may be off."""

PLAIN = (bool, int, float, str, list, tuple, dict, set, np.ndarray, np.generic)

WIDEST = 8
"""Numbers of an attribute that may name a part of the observation."""

MOST_ROWS = 300
"""Steps whose variables are kept to compare them with observations."""

LAST = 1_000_000
"""The line of what follows a function."""


class _View:
    """The environment as shown code sees it: what the code assigns stays here."""

    def __init__(self, env: Any) -> None:
        self.__dict__["_viewed"] = env

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_viewed"], name)


class AttributeChain(NamedTuple):
    """What code reads of an object or a module, such as ``self.data.qpos[0]``.

    Attributes:
        root: The object.
        text: What follows it.
        own: Whether it is that of a method.
    """

    root: Any
    text: str
    own: bool


class Proposal:
    """Lines that run beside the function that they were taken from, each just before the function runs it.

    Attributes:
        lines: Of the function.
        failed: Whether they raised, or used a name with several values in a step.
        reads: Of each line: what it, and functions that it calls, read of objects and modules, as a spec writes it.
        told: What the environment gave.
        given: What they gave.
        used: Of each step: argument, name that is cut, or chain such as ``env.data.qpos[0]`` to its value where the lines
            read it first, and where they read it last.
    """

    def __init__(self, lines: Sliced) -> None:
        self.lines, self.failed = lines, False
        self.told, self.given, self.used = list[float](), list[float](), list[dict[str, list[Any]]]()
        self._at = [getattr(one, "lineno", LAST) for one in lines.body]
        self._cut = [sorted(read_in(one, lines.level.me) & lines.cut) for one in lines.body]
        self.reads = [dict(_chains(lines, one)) for one in lines.body]
        self._function = self._beside()
        self._running: Any = None
        self._now: dict[str, list[Any]] = {}
        self._value: Any = None

    def _beside(self) -> Any:
        """The lines as a generator that waits before each of them, for the names that are cut."""
        level, space = self.lines.level, dict(self.lines.level.names)
        text = [f"def beside({', '.join([level.me or '_', *level.arguments])}):"]
        for one, reads in zip(self.lines.body, self._cut, strict=True):
            text.append(f"    {''.join(f'{name}, ' for name in reads)}{'= ' if reads else ''}yield")
            text.append(textwrap.indent(ast.unparse(one), "    "))
        exec("\n".join(text), space)  # noqa: S102 - lines of the environment's own class, which runs in this process anyway
        return space["beside"]

    def begin(self, names: Mapping[str, Any]) -> None:
        """The function is called."""
        given = {name: _kept(names[name]) for name in self.lines.level.arguments}
        self._now, self._value = {name: [value, value] for name, value in given.items()}, None
        self._waiting, self._running = 0, self._function(_View(self.lines.level.owner), **given)
        next(self._running)

    def reach(self, line: int, names: Mapping[str, Any]) -> None:
        """The function comes to a line."""
        while self._running is not None and self._at[self._waiting] <= line:
            try:
                used = {name: _kept(names[name]) for name in self._cut[self._waiting]}
                self.failed |= any(not equal(self._now.setdefault(n, [v, v])[0], v) for n, v in used.items())
                self._look(self._waiting)
                self._waiting += 1
                self._running.send(tuple(used.values()) or None)
            except StopIteration as done:
                self._value, self._running = done.value, None
            except Exception:  # noqa: BLE001 - code that fails is not shown
                self.failed, self._running = True, None

    def _look(self, number: int) -> None:
        """Note what the chains in a line hold now."""
        for path, chain in self.reads[number].items():
            value = _at(chain)
            self._now.setdefault(path, [value, value])[1] = value

    def compare(self, told: Any, *, keeping: bool) -> None:
        """Hold what the last run gave beside what the environment returned."""
        if keeping:
            self.used.append(self._now)
        try:
            self.given.append(float(np.asarray(self._value, dtype=float).reshape(())))
            self.told.append(float(told))
        except (TypeError, ValueError):
            self.failed = True
        self._now, self._value = {}, None

    @property
    def right(self) -> bool:
        """Whether every recorded result was given."""
        if self.failed or not self.told:
            return False
        errors, size = np.abs(np.array(self.given) - self.told), np.abs(self.told)
        return bool(errors.max() <= CLOSE * size.max() and np.median(errors) <= CLOSE * np.median(size))


class SpecTrial:
    """Proposals that run beside the steps of an environment.

    Attributes:
        env: Unwrapped, after a reset.
        found: "reward", "terminated" and "truncated" to the proposals for them.
        rows: Observation, action and next observation of the steps that are kept.
        own: The environment's attributes after each of them.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        self.env = env
        self._level = step_of(env)
        lines = {n: sliced(self._level, i) for n, i in RESULTS.items()} if self._level is not None else {}
        self.found = {name: Proposal(one) for name, one in lines.items() if one is not None}
        self.rows, self.own = list[tuple[Any, Any, Any]](), list[dict[str, Any]]()
        self._returned: Any = ()

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """Runs the proposals at every step of the unwrapped environment, whatever wrappers call it."""
        step, previous, own = self.env.step, sys.gettrace(), vars(self.env)
        kept = {"step": own["step"]} if "step" in own else {}
        self._returned = ()

        def watched(*given: Any, **named: Any) -> Any:
            sys.settrace(self._called if any(not one.failed for one in self.found.values()) else previous)
            try:
                self._returned = step(*given, **named)
            finally:
                sys.settrace(previous)
            return self._returned

        own["step"] = watched
        try:
            yield
        finally:
            del own["step"]
            own.update(kept)

    def _called(self, frame: FrameType, event: str, value: Any) -> Any:
        """Called by Python where a function is called; what it returns is called at each of its lines, and at its end."""
        del event, value
        level, code = self._level, frame.f_code
        if level is None or level.code is not code or frame.f_locals.get(level.me) is not level.owner:
            return None
        running = [one for one in self.found.values() if not one.failed]
        for one in running:
            one.begin(frame.f_locals)

        def follow(frame: FrameType, event: str, value: Any) -> Any:
            del value
            line = {"line": frame.f_lineno - code.co_firstlineno + 1, "return": LAST}.get(event, 0)
            for one in running:
                one.reach(line, frame.f_locals)
            return follow

        return follow

    def seen(self, observation: Any, action: Any, following: Any, *, ended: bool) -> None:
        """Compare the last step, and keep what a policy saw before it, did, and saw after it."""
        if not isinstance(self._returned, tuple) or len(self._returned) <= max(RESULTS.values()):
            return
        keeping = ended or len(self.rows) < MOST_ROWS  # what ends an episode is rare, and tells most
        for name, one in self.found.items():
            one.compare(self._returned[RESULTS[name]], keeping=keeping)
        if keeping:
            self.rows.append((observation, action, following))
            tables = {name: table_of([value]) for name, value in vars(self.env).items()}
            self.own.append(
                {n: one[0] for n, one in tables.items() if one is not None and one.size <= WIDEST}
            )

    def passed(self, name: str) -> Proposal | None:
        """The proposal for a result, if it gave every recorded one; None where it did not."""
        found = self.found.get(name)
        return found if found is not None and found.right else None

    def limit(self) -> int | None:
        """The step at which lines that passed truncate: where they hold a number that counted every step against a constant."""
        passed = self.passed("truncated")
        if passed is None:
            return None
        level, rows = passed.lines.level, passed.used[:MOST_ROWS]

        def held(side: ast.expr) -> list[float]:
            path = re.sub(rf"\b{level.me}\b", level.path, ast.unparse(side))
            number = [side.value if isinstance(side, ast.Constant) else None]
            values = [row.get(path, number)[0] for row in rows]
            return values if all(isinstance(one, Real) for one in values) else []

        for node in (n for line in passed.lines.body for n in ast.walk(line)):
            match node:
                case ast.Compare(counter, [ast.GtE() | ast.Gt() as op], [limit]):
                    counted, most = held(counter), set(held(limit))
                    follows = all(two in {one + 1, 1} for one, two in itertools.pairwise([0.0, *counted]))
                    if follows and counted and len(most) == 1:
                        return int(*most) + isinstance(op, ast.Gt)
        return None

    def sides(self, observation_space: Any, action_space: Any) -> Columns:
        """What a policy saw after each step, saw before it, and did."""
        before, actions, after = zip(*self.rows, strict=True)
        return [
            *columns(observation_space, after, "next_obs"),
            *columns(observation_space, before, "obs"),
            *columns(action_space, actions, "action"),
        ]

    def tied(self, values: Sequence[Any], sides: Columns) -> Tie:
        """What a variable is to a policy that held these values in the rows."""
        _, actions, after = zip(*self.rows, strict=True)
        whole = {"action": actions, "next_obs": after}
        same = (path for path, seen in whole.items() if all(map(equal, values, seen)))
        return Tie(path) if (path := next(same, "")) else tie(values, sides)

    def names(self, observation_space: Any) -> dict[str, tuple[str, str]]:
        """What the environment itself calls numbers of the observation: path to the one attribute that it tells, and how."""
        seen = columns(observation_space, [row[2] for row in self.rows], "obs")
        names = {name for own in self.own for name in own}
        ties = [(tie([own.get(name) for own in self.own], seen).path, name) for name in names]
        places = [
            match[0] if (match := re.search(r"obs[^ ]*", told)) and "," not in told else ""
            for told, _ in ties
        ]
        often = Counter(places)
        named = zip(places, ties, strict=True)
        return {place: (name, told) for place, (told, name) in named if place and often[place] == 1}


def _chains(lines: Sliced, statement: ast.stmt) -> Iterator[tuple[str, AttributeChain]]:
    """Attributes of objects, and constants of modules, that a line, or functions that it calls, read."""
    below = helpers_of(lines.level, statement, {}) or {}
    for level, tree in [(lines.level, statement), *((one, one.node) for one in below.values())]:
        known = {**level.names, **dict.fromkeys(locals_of(level.node)), level.me: level.owner}
        for node in (n for n in ast.walk(tree) if isinstance(n, ast.Attribute | ast.Subscript | ast.Name)):
            text = ast.unparse(node)
            chain = re.fullmatch(r"(\w+)((?:\.\w+|\[-?\d*(?::-?\d*)?\]|\['\w+'\])*)", text)
            root = known.get(chain[1]) if chain is not None else None
            if chain is not None and root is not None and root is not np and root is not math:
                own = chain[1] == level.me
                if chain[2] or not own:
                    yield f"{level.path if own else chain[1]}{chain[2]}", AttributeChain(root, chain[2], own)


def _at(chain: AttributeChain) -> Any:
    """The numbers that a chain holds now, or the list of words; None where it holds anything else."""
    try:
        value = evaluated(f"root{chain.text}", {"root": chain.root})
        found = table_of([value])
    except Exception:  # noqa: BLE001 - a property of a foreign class: anything can come out of it
        return None
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return list(value)
    return None if found is None else found[0]


def _kept(value: Any) -> Any:
    """A copy of a plain value; objects stay what they are."""
    try:
        return copy.deepcopy(value) if isinstance(value, PLAIN) else value
    except Exception:  # noqa: BLE001 - a container of foreign objects
        return value
