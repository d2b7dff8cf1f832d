"""Running what a spec is to say of the reward and the end beside the steps that are taken, before it is said."""

from __future__ import annotations

import ast
import contextlib
import copy
import re
import sys
import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.envs.spaces import equal
from promptpo.spec.functions import levels_of, results_of
from promptpo.spec.known import evaluated
from promptpo.spec.names import locals_of, read_in
from promptpo.spec.slicing import Sliced, sliced
from promptpo.spec.values import Columns, Tie, columns, table_of, tie

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import FrameType

    import gymnasium

    from promptpo.spec.functions import Level

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


class Proposal:
    """Lines that run beside the function that they were taken from, each just before the function runs it.

    Attributes:
        lines: Of the function.
        chains: Attributes of its object that they read, such as ``data.qpos[0]``.
        failed: Whether they raised, or used a name with several values in a step.
        told: What the environment gave.
        given: What they gave.
        begun: Of each step arguments, names that are cut, and attributes, when they are used first.
        ended: Likewise attributes, when the function returns.
    """

    def __init__(self, lines: Sliced) -> None:
        self.lines, self.chains = lines, sorted(set(_chains(lines)))
        self.failed, self.told, self.given = False, list[float](), list[float]()
        self.begun, self.ended = list[dict[str, Any]](), list[dict[str, Any]]()
        self._at = [getattr(one, "lineno", LAST) for one in lines.body]
        self._reads = [sorted(read_in(one, lines.level.me) & lines.cut) for one in lines.body]
        self._function = self._beside()
        self._running: Any = None
        self._waiting = 0
        self._now: dict[str, dict[str, Any]] = {}
        self._value: Any = None

    def _beside(self) -> Any:
        """The lines as a generator that waits before each of them, for the names that are cut."""
        level, space = self.lines.level, dict(self.lines.level.names)
        text = [f"def beside({', '.join([level.me or '_', *level.arguments])}):"]
        for one, reads in zip(self.lines.body, self._reads, strict=True):
            text.append(f"    {''.join(f'{name}, ' for name in reads)}{'= ' if reads else ''}yield")
            text.append(textwrap.indent(ast.unparse(one), "    "))
        exec("\n".join(text), space)  # noqa: S102 - lines of the environment's own class, which runs in this process anyway
        return space["beside"]

    def begin(self, names: Mapping[str, Any]) -> None:
        """The function is called."""
        level = self.lines.level
        given = {name: _kept(names[name]) for name in level.arguments}
        self._now, self._value = {"begun": given | self._attributes(), "ended": {}}, None
        self._running, self._waiting = self._function(_View(level.owner), **given), 0
        next(self._running)

    def reach(self, line: int, names: Mapping[str, Any]) -> None:
        """The function comes to a line."""
        while self._running is not None and self._at[self._waiting] <= line:
            try:
                used = {name: _kept(names[name]) for name in self._reads[self._waiting]}
                self.failed |= any(not equal(self._now["begun"].setdefault(n, v), v) for n, v in used.items())
                self._waiting += 1
                self._running.send(tuple(used.values()) or None)
            except StopIteration as done:
                self._value, self._running = done.value, None
            except Exception:  # noqa: BLE001 - code that fails is not shown
                self.failed, self._running = True, None

    def end(self, names: Mapping[str, Any]) -> None:
        """The function returns."""
        self.reach(LAST, names)
        self._now["ended"] = self._attributes()

    def _attributes(self) -> dict[str, Any]:
        return {f".{one}": _at(self.lines.level.owner, one) for one in self.chains}

    def compare(self, told: Any, *, keeping: bool) -> None:
        """Hold what the last run gave beside what the environment returned."""
        if keeping:
            self.begun.append(self._now.get("begun", {}))
            self.ended.append(self._now.get("ended", {}))
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
        self.found = {
            name: list(filter(None, map(_proposal, levels_of(env, index)))) for name, index in RESULTS.items()
        }
        self.rows, self.own = list[tuple[Any, Any, Any]](), list[dict[str, Any]]()
        self._every = [one for found in self.found.values() for one in found]
        self._returned: Any = ()

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """Runs the proposals at every step of the unwrapped environment, whatever wrappers call it."""
        step, previous, own = self.env.step, sys.gettrace(), vars(self.env)
        kept = {"step": own["step"]} if "step" in own else {}
        self._returned = ()

        def watched(*given: Any, **named: Any) -> Any:
            sys.settrace(self._called if any(not one.failed for one in self._every) else previous)
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
        code = frame.f_code
        running = [
            one
            for one in self._every
            if one.lines.level.code is code
            and not one.failed
            and frame.f_locals.get(one.lines.level.me) is one.lines.level.owner
        ]
        for one in running:
            one.begin(frame.f_locals)

        def follow(frame: FrameType, event: str, value: Any) -> Any:
            del value
            for one in running:
                if event == "line":
                    one.reach(frame.f_lineno - code.co_firstlineno + 1, frame.f_locals)
                elif event == "return":
                    one.end(frame.f_locals)
            return follow

        return follow if running else None

    def seen(self, observation: Any, action: Any, following: Any, *, ended: bool) -> None:
        """Compare the last step, and keep what a policy saw before it, did, and saw after it."""
        if not isinstance(self._returned, tuple) or len(self._returned) <= max(RESULTS.values()):
            return
        keeping = ended or len(self.rows) < MOST_ROWS  # what ends an episode is rare, and tells most
        for name, found in self.found.items():
            for one in found:
                one.compare(self._returned[RESULTS[name]], keeping=keeping)
        if keeping:
            self.rows.append((observation, action, following))
            tables = {name: table_of([value]) for name, value in vars(self.env).items()}
            self.own.append(
                {n: one[0] for n, one in tables.items() if one is not None and one.size <= WIDEST}
            )

    def passed(self, name: str) -> Proposal | None:
        """The first proposal that gave every recorded result; None where none did."""
        return next((one for one in self.found[name] if one.right), None)

    def sides(self, observation_space: Any, action_space: Any) -> Columns:
        """What a policy saw after each step, saw before it, and did."""
        before, actions, after = zip(*self.rows, strict=True)
        return [
            *columns(observation_space, _within(observation_space, after), "next_obs"),
            *columns(observation_space, _within(observation_space, before), "obs"),
            *columns(action_space, actions, "action"),
        ]

    def tied(self, values: Sequence[Any], sides: Columns) -> Tie:
        """What a variable is to a policy that held these values in the rows."""
        after = [following for *_, following in self.rows]
        whole = {"next_obs": after, "(next_obs,)": [(one,) for one in after]}
        written = (path for path, seen in whole.items() if all(map(equal, values, seen)))
        return Tie(path) if (path := next(written, "")) else tie(values, sides)

    def names(self, observation_space: Any) -> dict[str, str]:
        """What the environment itself calls numbers of the observation: path to the one attribute that always equals it."""
        seen = columns(observation_space, _within(observation_space, [row[2] for row in self.rows]), "obs")
        names = {name for own in self.own for name in own}
        ties = [(tie([own.get(name) for own in self.own], seen).path, name) for name in names]
        often = Counter(path for path, _ in ties)
        return {path: name for path, name in ties if path and " " not in path and often[path] == 1}


def _proposal(level: Level) -> Proposal | None:
    """Lines cut at the names that make up the observation."""
    ends = [n.value for n in ast.walk(level.node) if isinstance(n, ast.Return)]
    observed = {name for one in ends if isinstance(one, ast.Tuple) for name in read_in(one.elts[0], level.me)}
    observed -= {name for one in results_of(level) for name in read_in(one, level.me)}
    lines = sliced(level, observed & locals_of(level.node))
    return Proposal(lines) if lines is not None else None


def _within(space: Any, values: Sequence[Any]) -> Sequence[Any]:
    """Observations without the number of their variant, where the space has none."""
    shown = isinstance(values[0], dict) and not isinstance(space, spaces.Dict)
    return [one["observation"] for one in values] if shown else values


def _chains(lines: Sliced) -> Iterator[str]:
    """Chains of attributes of the object that lines, or functions that they call, read."""
    level = lines.level
    trees = [(level, one) for one in lines.body] + [(one, one.node) for one in lines.helpers.values()]
    for one, tree in trees:
        for node in ast.walk(tree):
            text = ast.unparse(node) if isinstance(node, ast.Attribute | ast.Subscript) else ""
            if one.me and re.fullmatch(rf"{one.me}(\.\w+|\[-?\d*(:-?\d*)?\])+", text):
                chain = f"{one.path}{text.removeprefix(one.me)}"
                if chain.startswith(f"{level.path}."):
                    yield chain.removeprefix(f"{level.path}.")


def _at(owner: Any, chain: str) -> Any:
    """The numbers that a chain such as ``data.qpos[0]`` holds now; None where it holds anything else."""
    try:
        found = table_of([evaluated(f"owner.{chain}", {"owner": owner})])
    except Exception:  # noqa: BLE001 - a property of a foreign class: anything can come out of it
        return None
    return None if found is None else found[0]


def _kept(value: Any) -> Any:
    """A copy of a plain value; objects stay what they are."""
    try:
        return copy.deepcopy(value) if isinstance(value, PLAIN) else value
    except Exception:  # noqa: BLE001 - a container of foreign objects
        return value
