"""Finding what a spec says that its environment contradicts."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from gymnasium import spaces

from promptpo.envs.building import make_env
from promptpo.envs.contract import BUILDING, patience
from promptpo.envs.spaces import form_of
from promptpo.spec.facts import facts_from
from promptpo.spec.fields import widest
from promptpo.spec.observe import observe
from promptpo.spec.paths import PathError, walk
from promptpo.spec.paths import read as read_path
from promptpo.spec.reading import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptpo.envs.spaces import AnySpace
    from promptpo.envs.task import Task
    from promptpo.spec.observe import Observed
    from promptpo.spec.reading import Reading, Said, SpecClass

EPISODE_KEYS = ("max_steps", "seconds_per_step", "start", "end", "success", "solved_from_mean_return")
TOLERANCE = 0.01
"""Bounds may be rounded by one per cent."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Something that a spec says and that is not so.

    Attributes:
        line: Where it says it; 0 where it concerns the whole file.
        message: One sentence.
        doubtful: Whether it may be meant so, so that a run goes on with a warning.
    """

    line: int
    message: str
    doubtful: bool = False

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


def check_spec(text: str, task: Task) -> list[Contradiction]:
    """Compare a spec with the environment that it describes.

    Checked are names and indices, shapes, bounds, the number and values of actions, the horizon, the
    threshold, and the name of the success signal. The text is parsed and never executed.

    Args:
        text: The spec.
        task: The environment.

    Returns:
        Contradictions in the order of their lines; empty where there are none.

    Raises:
        PromptPOError: Whatever `make_env` raises.
    """
    try:
        reading = read(text)
    except SyntaxError as error:
        return [Contradiction(error.lineno or 0, f"this is not valid Python: {error.msg}.")]
    with patience(BUILDING, f"building {task.name}"):
        env = make_env(task)
    try:
        observed = observe(env, task.name)
        facts = facts_from(env, observed.steps[-1].info, task, observed.endings)
    finally:
        env.close()
    return contradictions_in(reading, task, facts, observed)


class Known(Protocol):
    """What is known of a task, described or not; see `promptpo.spec.facts.TaskFacts`."""

    @property
    def observation_space(self) -> AnySpace: ...  # noqa: D102 - see there
    @property
    def action_space(self) -> AnySpace: ...  # noqa: D102
    @property
    def horizon(self) -> int | None: ...  # noqa: D102
    @property
    def horizon_source(self) -> str: ...  # noqa: D102
    @property
    def reward_threshold(self) -> float | None: ...  # noqa: D102


def contradictions_in(reading: Reading, task: Task, facts: Known, observed: Observed) -> list[Contradiction]:
    """What a spec says that is not so, in the order of its lines.

    Args:
        reading: The spec.
        task: The environment that it is to describe.
        facts: Its spaces, horizon and threshold.
        observed: Some of its steps.
    """
    found = list(_contradictions(reading, task, facts, observed))
    return sorted(dict.fromkeys(found), key=lambda item: item.line)


def _contradictions(
    reading: Reading, task: Task, facts: Known, observed: Observed
) -> Iterator[Contradiction]:
    if not (reading.parts or reading.reward or reading.episode is not None):
        yield Contradiction(0, "it is no spec: it defines none of State, Action, reward, EPISODE.")
    named = re.match(r"Task: (\S+?)\.?(?:\s|$)", reading.docstring)
    if named and named[1] not in {task.env_id, task.env_id.rpartition(":")[2]}:
        yield Contradiction(
            1, f"it describes {named[1]}, but the environment is {task.env_id}.", doubtful=True
        )
    for name in reading.classes.keys() - {"State", "Action"}:
        message = f"class {name} has no meaning in a spec; the classes are State and Action."
        yield Contradiction(reading.classes[name], message, doubtful=True)
    if "State" in reading.parts:
        yield from _part("obs", reading.parts["State"], facts.observation_space, observed.observations)
    if "Action" in reading.parts:
        actions = [step.action for step in observed.steps]
        yield from _part("action", reading.parts["Action"], facts.action_space, actions)
        yield from _choices(reading.parts["Action"], facts.action_space)
    yield from _reward(reading, facts)
    yield from _episode(reading, facts, observed)


def _part(root: str, part: SpecClass, space: AnySpace, values: Sequence[Any]) -> Iterator[Contradiction]:
    head = " ".join(part.docstring.split("\n\n", maxsplit=1)[0].split())
    form = re.match(
        r"(?:obs: |What act returns: )((?:np\.|int|dict|tuple|str).*?)\.?(?:, for example .*)?$", head
    )
    if form and not form_of(space).startswith(form[1]):
        yield Contradiction(part.line, f"the {root} is {form_of(space)}, not {form[1]}.")
    taken: dict[str, str] = {}
    covered = 0
    for said in part.fields:
        path = ast.unparse(said.expression)
        try:
            leaf = walk(said.expression, root, space)
            if leaf is None:
                yield from _computed(said, space)
                continue
        except PathError as error:
            yield Contradiction(said.line, f"{said.name}: {error}")
            continue
        if path in taken:
            message = f"{said.name}: {path} is already described as {taken[path]}."
            yield Contradiction(said.line, message, doubtful=True)
        taken[path] = said.name
        covered += 0 if leaf.low is None else int(np.size(leaf.low))
        if said.ranges and leaf.low is None:
            yield Contradiction(said.line, f"{said.name} is text and has no bounds.")
        elif said.ranges:
            yield from _bounds(said, leaf, values)
    size = int(np.prod(space.shape)) if isinstance(space, spaces.Box) else 0
    if root == "action" and part.fields and covered < size:
        message = f"it describes {covered} of the {size} numbers that the {root} has."
        yield Contradiction(part.line, message, doubtful=True)


def _bounds(said: Said, leaf: Any, values: Sequence[Any]) -> Iterator[Contradiction]:
    bounds = np.ravel(leaf.low), np.ravel(leaf.high)
    each = len(said.ranges) == bounds[0].size
    taken = np.array([np.ravel(np.asarray(leaf.read(value), dtype=float)) for value in values])
    for i, (low, high) in enumerate(said.ranges if each else said.ranges[:1]):
        part = slice(i, i + 1) if each else slice(None)
        declared, column = widest(bounds[0][part], bounds[1][part]), taken[:, part] if taken.size else taken
        if low > high:
            message = f"{said.name}: the lower bound {low:g} is above the upper bound {high:g}."
            yield Contradiction(said.line, message)
        elif not said.seen and np.isfinite(declared).all():
            if not np.allclose(declared, (low, high), rtol=TOLERANCE, atol=1e-6):
                message = (
                    f"{said.name} lies in {declared[0]:.6g} .. {declared[1]:.6g}, not in {low:g} .. {high:g}."
                )
                yield Contradiction(said.line, message)
        elif not said.seen and column.size:
            seen = float(column.min()), float(column.max())
            slack = TOLERANCE * np.nan_to_num(np.abs((low, high)), posinf=0) + 1e-6
            if seen[0] < low - slack[0] or seen[1] > high + slack[1]:
                message = f"{said.name} was observed from {seen[0]:.4g} to {seen[1]:.4g}, outside {low:g} .. {high:g}."
                yield Contradiction(said.line, message, doubtful=True)


def _computed(said: Said, space: AnySpace) -> Iterator[Contradiction]:
    """A field such as ``obs // 4 % 5``: try it on every value that the space has."""
    if not isinstance(space, spaces.Discrete) or not said.ranges:
        return
    values = [read_path(said.expression, int(space.start) + n) for n in range(int(space.n))]
    low, high = said.ranges[0]
    if min(values) != low or max(values) != high:
        message = f"{said.name} takes the values {min(values):g} .. {max(values):g}, not {low:g} .. {high:g}."
        yield Contradiction(said.line, message)


def _choices(part: SpecClass, space: AnySpace) -> Iterator[Contradiction]:
    """The numbered values of a discrete action, and the example."""
    if not isinstance(space, spaces.Discrete):
        for _, line in list(part.constants.values())[:1]:
            message = f"the action is no choice of numbered values: it is {type(space).__name__}."
            yield Contradiction(line, message)
        return
    first, last = int(space.start), int(space.start + space.n - 1)
    example = re.search(r"for\s+example\s+(-?\d+)\.?(?:\s|$)", part.docstring)
    if example and not first <= int(example[1]) <= last:
        yield Contradiction(
            part.line, f"the example {example[1]} is no action: actions are {first} .. {last}."
        )
    values: dict[Any, str] = {}
    for name, (value, line) in part.constants.items():
        if value not in range(first, last + 1):
            yield Contradiction(line, f"{name} = {value} is no action: actions are {first} .. {last}.")
        elif value in values:
            yield Contradiction(line, f"{name}: the value {value} is already described as {values[value]}.")
        values[value] = name
    missing = [value for value in range(first, last + 1) if value not in values]
    if part.constants and missing:
        message = f"it leaves out the action {', '.join(map(str, missing))}; there are {space.n}."
        yield Contradiction(part.line, message, doubtful=True)


def _reward(reading: Reading, facts: Known) -> Iterator[Contradiction]:
    """Indices of observation and action inside the reward's code."""
    seen = facts.observation_space
    for function in reading.functions:
        inner = list(ast.walk(function))
        local = {n.id for n in inner if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        given = {arg.arg for arg in function.args.args} - local
        for root, space in (("obs", seen), ("next_obs", seen), ("action", facts.action_space)):
            for node in (n for n in inner if isinstance(n, ast.Subscript) and root in given):
                try:
                    walk(node, root, space)
                except PathError as error:
                    yield Contradiction(node.lineno, f"{function.name}: {error}")


def _episode(reading: Reading, facts: Known, observed: Observed) -> Iterator[Contradiction]:
    episode, line = reading.episode, reading.episode_line
    if episode is None:
        return
    if not episode:
        yield Contradiction(line, "EPISODE has to be a dictionary of plain values.")
    for key in episode.keys() - set(EPISODE_KEYS):
        message = f"EPISODE has no key {key!r}; it has {', '.join(EPISODE_KEYS)}."
        yield Contradiction(line, message, doubtful=True)
    steps = episode.get("max_steps", facts.horizon)
    if facts.horizon is not None and steps != facts.horizon:
        message = f"an episode has at most {facts.horizon} steps, not {steps}."
        yield Contradiction(line, message)
    threshold = episode.get("solved_from_mean_return", facts.reward_threshold)
    if threshold != facts.reward_threshold:
        message = f"the task counts as solved from {facts.reward_threshold}, not from {threshold}."
        yield Contradiction(line, message, doubtful=True)
    for key in re.findall(r'info\["(\w+)"\]', str(episode.get("success", ""))):
        if not any(key in step.info for step in observed.steps):
            keys = ", ".join(observed.steps[-1].info) or "nothing"
            yield Contradiction(line, f"info reports no {key!r}; it reports {keys}.", doubtful=True)
