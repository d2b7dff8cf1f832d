"""Finding what a spec says that its environment contradicts."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.envs.spaces import form_of
from promptpo.spec.facts import facts_from
from promptpo.spec.fields import widest
from promptpo.spec.names import root_of, stored_in
from promptpo.spec.observe import observe, opened
from promptpo.spec.paths import PathError, walk
from promptpo.spec.paths import read as read_path
from promptpo.spec.reading import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptpo.envs.spaces import AnySpace
    from promptpo.envs.task import Task
    from promptpo.spec.facts import TaskFacts
    from promptpo.spec.observe import Observed
    from promptpo.spec.reading import Reading, Said, SpecClass
    from promptpo.spec.task_spec import TaskSpec

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
    with opened(task) as env:
        observed = observe(env, task.name)
        facts = facts_from(env, observed.steps[-1].info, task, observed.endings)
    return contradictions_in(reading, task, facts, observed)


def contradictions_in(
    reading: Reading, task: Task, facts: TaskFacts | TaskSpec, observed: Observed
) -> list[Contradiction]:
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
    reading: Reading, task: Task, facts: TaskFacts | TaskSpec, observed: Observed
) -> Iterator[Contradiction]:
    if not reading.blocks:
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
    taken = np.array(
        [np.ravel(np.asarray(one, dtype=float)) for one in (leaf.low, leaf.high, *map(leaf.read, values))]
    )
    each = len(said.ranges) == taken.shape[1]
    for i, (low, high) in enumerate(said.ranges if each else said.ranges[:1]):
        part = taken[:, i : i + 1] if each else taken
        declared, column = widest(part[0], part[1]), part[2:]
        if low > high:
            message = f"{said.name}: the lower bound {low:g} is above the upper bound {high:g}."
            yield Contradiction(said.line, message)
        elif said.seen:
            continue
        elif np.isfinite(declared).all():
            if not np.allclose(declared, (low, high), rtol=TOLERANCE, atol=1e-6):
                message = (
                    f"{said.name} lies in {declared[0]:.6g} .. {declared[1]:.6g}, not in {low:g} .. {high:g}."
                )
                yield Contradiction(said.line, message)
        elif (
            (column < low - TOLERANCE * (1 + abs(low))) | (column > high + TOLERANCE * (1 + abs(high)))
        ).any():
            message = f"{said.name} was observed from {column.min():.4g} to {column.max():.4g}, outside {low:g} .. {high:g}."
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
    told = [(f"{name} =", value, line) for name, (value, line) in part.constants.items()]
    for name, value, line in [*told, *([("the example", int(example[1]), part.line)] if example else [])]:
        if value not in range(first, last + 1):
            yield Contradiction(line, f"{name} {value} is no action: actions are {first} .. {last}.")
    values: dict[Any, str] = {}
    for name, (value, line) in part.constants.items():
        if values.setdefault(value, name) != name:
            yield Contradiction(line, f"{name}: the value {value} is already described as {values[value]}.")
    missing = [value for value in range(first, last + 1) if value not in values]
    if part.constants and missing:
        message = f"it leaves out the action {', '.join(map(str, missing))}; there are {space.n}."
        yield Contradiction(part.line, message, doubtful=True)


def _reward(reading: Reading, facts: TaskFacts | TaskSpec) -> Iterator[Contradiction]:
    """Indices of observation and action inside the reward's code."""
    roots = {"action": facts.action_space} | dict.fromkeys(("obs", "next_obs"), facts.observation_space)
    for function in reading.functions:
        given = {arg.arg for arg in function.args.args} - stored_in(function)
        for node in (n for n in ast.walk(function) if isinstance(n, ast.Subscript)):
            root = ast.unparse(root_of(node))
            try:
                if root in given & roots.keys():
                    walk(node, root, roots[root])
            except PathError as error:
                yield Contradiction(node.lineno, f"{function.name}: {error}")


def _episode(reading: Reading, facts: TaskFacts | TaskSpec, observed: Observed) -> Iterator[Contradiction]:
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
