"""Running what a spec is to say of the reward and the end beside the steps that are taken, before it is said."""

from __future__ import annotations

import ast
import contextlib
import copy
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.spec.lines import ShownLines, lines_of, variables_in
from promptpo.spec.parts import RewardCode
from promptpo.spec.source import changed_in_place

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    import gymnasium

MARK = "...  # the environment moves on here"

CLOSE = 1e-4
"""Of the largest result the most, and of the median the median, by which arithmetic in 32 bits may be off."""

LARGEST = 400
"""Numbers of a variable that are kept to compare it with observations."""

MOST_ROWS = 300
"""Observations beside which the environment's variables are kept."""

RESULTS = {"reward": 1, "terminated": 2}


class _View:
    """The environment as shown code sees it: what the code assigns itself holds what it held before the step."""

    def __init__(self, env: Any, own: Mapping[str, Any]) -> None:
        self.__dict__.update(own)
        self.__dict__["_viewed"] = env

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_viewed"], name)


class _Candidate:
    """Shown code with the environment moving on before the statement at `place`."""

    def __init__(self, lines: ShownLines, name: str, place: int) -> None:
        self.place, self.name, self.failed = place, name, False
        self.told: list[float] = []
        self._errors: list[float] = []
        self.reads_observation = "next_obs" in "".join(map(ast.unparse, lines.functions))
        entry = copy.deepcopy(lines.functions[0])
        moves = ast.parse("next_obs = yield").body
        entry.body = [*entry.body[:place], *moves, *entry.body[place:]]
        self._code = compile(
            ast.fix_missing_locations(ast.Module([entry, *lines.functions[1:]], [])), f"<{name}>", "exec"
        )
        self._names = lines.names
        self._own = _assigned(lines)
        self._running: Generator[None, Any, Any] | None = None
        self._value: Any = None

    def before(self, env: Any, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        """Run what stands before the move."""
        held = {name: _kept(getattr(env, name)) for name in self._own if hasattr(env, name)}
        space = {**self._names, "np": np, "math": math, "env": _View(env, held)}
        self._running, self._value = None, None
        try:
            exec(self._code, space)  # noqa: S102 - lines of the environment's own class, which runs in this process anyway
            running = space[self.name](*(copy.deepcopy(item) for item in arguments), **named)
            next(running)
            self._running = running
        except StopIteration as done:
            self._value = done.value
        except Exception:  # noqa: BLE001 - code that fails is not shown
            self.failed = True

    def after(self, observation: Any, told: Any) -> None:
        """Run the rest and compare what it gives."""
        if self._running is not None:
            try:
                self._running.send(copy.deepcopy(observation))
            except StopIteration as done:
                self._value = done.value
            except Exception:  # noqa: BLE001 - code that fails is not shown
                self.failed = True
                return
        try:
            self._errors.append(abs(float(np.asarray(self._value, dtype=float).reshape(())) - float(told)))
            self.told.append(abs(float(told)))
        except (TypeError, ValueError):
            self.failed = True

    @property
    def right(self) -> bool:
        """Whether every recorded result was given."""
        if self.failed or not self.told:
            return False
        return bool(
            max(self._errors) <= CLOSE * max(self.told)
            and np.median(self._errors) <= CLOSE * np.median(self.told)
        )


def _assigned(lines: ShownLines) -> set[str]:
    """Attributes of the environment that the code itself assigns or changes in place."""
    found = set()
    for function in lines.functions:
        for node in ast.walk(function):
            target: Any = node
            if (changed := changed_in_place(node)) is not None:
                target = changed
            elif not isinstance(getattr(node, "ctx", None), ast.Store):
                continue
            while isinstance(target, ast.Subscript):
                target = target.value
            if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "env":
                found.add(target.attr)
    return found


def _kept(value: Any) -> Any:
    """A copy of plain values; objects stay what they are."""
    plain = isinstance(value, bool | int | float | str | list | tuple | dict | set | np.ndarray | np.generic)
    return copy.deepcopy(value) if plain else value


@dataclass
class SpecTrial:
    """Proposals that run beside the steps of an environment.

    Attributes:
        env: Unwrapped.
        lines: "reward" and "terminated" to what was read from the source; None where nothing could be.
        steps: How many were compared.
        rows: Values of the environment's attributes, and of the variables that the code reads, with the observation
            that a policy saw at the same time.
        last: What the environment itself returned as the observation of the last step.
        disturbed: Whether running them changed what the environment does.
        changed: Whether a wrapper changes observations, so that a policy sees others than the lines do.
    """

    env: gymnasium.Env[Any, Any]
    lines: Mapping[str, ShownLines | None]
    candidates: Mapping[str, list[_Candidate]]
    variables: tuple[str, ...]
    steps: int = 0
    rows: list[tuple[Any, dict[str, Any]]] = field(default_factory=list)
    last: Any = None
    disturbed: bool = False
    changed: bool = False

    @classmethod
    def of(cls, env: gymnasium.Env[Any, Any], most: Mapping[str, int]) -> SpecTrial:
        """Proposals for an unwrapped environment that has been reset, each of so many characters at most."""
        lines = {name: lines_of(env, name, most[name]) for name in RESULTS}
        found = {
            name: [_Candidate(one, name, place) for place in range(one.latest + 1)] if one else []
            for name, one in lines.items()
        }
        functions = [function for one in lines.values() if one for function in one.functions]
        return cls(env, lines, found, variables_in(functions))

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """Runs the proposals at every step of the unwrapped environment, whatever wrappers call it."""
        inner: Any = self.env
        original = inner.step

        def step(*arguments: Any, **named: Any) -> Any:
            running = [one for found in self.candidates.values() for one in found if not one.failed]
            for one in running:
                one.before(inner, arguments, named)
            result = original(*arguments, **named)
            self.last = result[0]
            self.steps += 1
            for one in running:
                if not one.failed:
                    one.after(result[0], result[RESULTS[one.name]])
            return result

        try:
            inner.step = step
        except AttributeError:  # slots
            yield
            return
        try:
            yield
        finally:
            del inner.step

    def settle(self) -> None:
        """Go on with the first proposal of each that has passed so far."""
        for found in self.candidates.values():
            found[:] = [one for one in found if one.right][:1]

    def seen(self, observation: Any) -> None:
        """Keep what the environment's variables hold while a policy sees this observation."""
        if len(self.rows) >= MOST_ROWS:
            return
        values = {name: _value(self.env, name) for name in self.variables}
        for name, value in vars(self.env).items():
            values.setdefault(f"env.{name}", value)
        self.rows.append(
            (observation, {n: v for n, value in values.items() if (v := _numbers(value)) is not None})
        )

    def passed(self, name: str) -> _Candidate | None:
        """The first proposal that gave every recorded result; None where none did."""
        found = (one for one in self.candidates[name] if one.right and not self.disturbed)
        return next((one for one in found if not (one.reads_observation and self.changed)), None)

    def code(self, name: str) -> RewardCode | None:
        """What passed, as text."""
        lines, passed = self.lines[name], self.passed(name)
        if lines is None or passed is None:
            return None
        entry = copy.deepcopy(lines.functions[0])
        if passed.place:
            entry.body.insert(passed.place, ast.Expr(ast.Constant(...)))
        used = {n.id for n in ast.walk(entry) if isinstance(n, ast.Name)}
        entry.args.args = [a for a in entry.args.args if a.arg in used]
        entry.args.defaults = entry.args.defaults[: len(entry.args.args)]
        entry.args.args += [ast.arg("next_obs")] if "next_obs" in used else []
        texts = [
            ast.unparse(ast.fix_missing_locations(function)) for function in (entry, *lines.functions[1:])
        ]
        texts[0] = "\n".join(
            line.replace("...", MARK) if line == "    ..." else line for line in texts[0].splitlines()
        )
        return RewardCode(texts, dict(lines.words))


def _value(env: Any, variable: str) -> Any:
    """What a variable such as ``env.state[0]`` holds now; None where it cannot be read."""
    value = env
    try:
        for attribute, index in re.findall(r"\.(\w+)|\[([^\]]*)\]", variable):
            value = getattr(value, attribute) if attribute else value[_index(index)]
    except Exception:  # noqa: BLE001 - a property of a foreign class: anything can come out of it
        return None
    return value


def _index(text: str) -> Any:
    if ":" in text:
        return slice(*(int(part) if part else None for part in text.split(":")))
    return int(text)


def _numbers(value: Any) -> Any:
    """A copy of a number, or of a flat array or list of them; None for anything else."""
    if isinstance(value, bool | int | float | np.number | np.bool_):
        return np.array([float(value)])
    if isinstance(value, list | tuple | np.ndarray):
        try:
            found = np.array(value, dtype=float)
        except (TypeError, ValueError, OverflowError):
            return None
        return found if found.ndim == 1 and 0 < found.size <= LARGEST else None
    return None
