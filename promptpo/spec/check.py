"""Finding what a spec says that its environment contradicts."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from gymnasium import spaces

from promptpo.envs.building import make_env
from promptpo.envs.patience import BUILDING, patience
from promptpo.spec.facts import facts_from
from promptpo.spec.observe import observe
from promptpo.spec.paths import PathError, arithmetic, walk
from promptpo.spec.reading import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from promptpo.envs.spaces import AnySpace
    from promptpo.envs.task import Task
    from promptpo.spec.observe import Observed
    from promptpo.spec.reading import Reading, Said, SpecClass

EPISODE_KEYS = ("max_steps", "seconds_per_step", "start", "end", "success", "solved_from_mean_return")
NO_BOUND = 1e30
"""A float32's largest number means that there is no bound."""

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


class CheckableFacts(Protocol):
    """What has to be known of an environment to check a spec: `TaskFacts` and `TaskSpec` know it."""

    @property
    def observation_space(self) -> AnySpace: ...  # noqa: D102 - named as in TaskFacts
    @property
    def action_space(self) -> AnySpace: ...  # noqa: D102
    @property
    def horizon(self) -> int | None: ...  # noqa: D102
    @property
    def horizon_source(self) -> str: ...  # noqa: D102
    @property
    def reward_threshold(self) -> float | None: ...  # noqa: D102


def contradictions_in(
    reading: Reading, task: Task, facts: CheckableFacts, observed: Observed
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
    reading: Reading, task: Task, facts: CheckableFacts, observed: Observed
) -> Iterator[Contradiction]:
    if not (reading.parts or reading.reward or reading.episode is not None):
        yield Contradiction(0, "it is no spec: it defines none of State, Action, reward, EPISODE.")
    named = re.match(r"Task: (\S+?)\.?(?:\s|$)", reading.docstring)
    if named and named[1] not in {task.env_id, task.env_id.rpartition(":")[2]}:
        yield Contradiction(
            1, f"it describes {named[1]}, but the environment is {task.env_id}.", doubtful=True
        )
    for name, line in reading.classes.items():
        if name not in {"State", "Action"}:
            yield Contradiction(
                line,
                f"class {name} has no meaning in a spec; the classes are State and Action.",
                doubtful=True,
            )
    if "State" in reading.parts:
        observations = observed.observations
        yield from _part("obs", reading.parts["State"], facts.observation_space, observations, complete=False)
    if "Action" in reading.parts:
        actions = [step.action for step in observed.steps]
        yield from _action(reading.parts["Action"], facts.action_space, actions)
    yield from _reward(reading, facts)
    yield from _episode(reading, facts, observed)


def _part(
    root: str, part: SpecClass, space: AnySpace, values: Sequence[Any], *, complete: bool
) -> Iterator[Contradiction]:
    yield from _form(root, part, space)
    taken: dict[str, str] = {}
    covered = 0
    for said in part.fields:
        try:
            leaf = walk(said.expression, root, space)
        except PathError as error:
            yield Contradiction(said.line, f"{said.name}: {error}")
            continue
        if leaf is None:
            yield from _computed(said, root, space)
            continue
        path = ast.unparse(said.expression)
        if path in taken:
            yield Contradiction(
                said.line, f"{said.name}: {path} is already described as {taken[path]}.", doubtful=True
            )
        taken[path] = said.name
        covered += leaf.size
        yield from _bounds(said, leaf, values)
    size = int(np.prod(space.shape)) if isinstance(space, spaces.Box) else 0
    if complete and part.fields and size and covered < size:
        message = f"it describes {covered} of the {size} numbers that the {root} has."
        yield Contradiction(part.line, message, doubtful=True)


def _bounds(said: Said, leaf: Any, values: Sequence[Any]) -> Iterator[Contradiction]:
    if not said.ranges:
        return
    if leaf.low is None:
        yield Contradiction(said.line, f"{said.name} is text and has no bounds.")
        return
    low, high = np.ravel(leaf.low), np.ravel(leaf.high)
    each = len(said.ranges) == low.size
    ranges = said.ranges if each else said.ranges[:1]
    actual = list(zip(low, high, strict=True)) if each else [(low.min(), high.max())]
    taken = np.array([np.ravel(np.asarray(leaf.read(value), dtype=float)) for value in values])
    for i, ((said_low, said_high), (is_low, is_high)) in enumerate(zip(ranges, actual, strict=True)):
        if said_low > said_high:
            yield Contradiction(
                said.line,
                f"{said.name}: the lower bound {said_low:g} is above the upper bound {said_high:g}.",
            )
        elif not said.seen and _declared(is_low) and _declared(is_high):
            if not (_close(said_low, is_low) and _close(said_high, is_high)):
                message = f"{said.name} lies in {is_low:.6g} .. {is_high:.6g}, not in {said_low:g} .. {said_high:g}."
                yield Contradiction(said.line, message)
        elif not said.seen and taken.size:
            column = taken[:, i] if each else taken
            if column.min() < said_low - _slack(said_low) or column.max() > said_high + _slack(said_high):
                message = f"{said.name} was observed from {column.min():.4g} to {column.max():.4g}, outside {said_low:g} .. {said_high:g}."
                yield Contradiction(said.line, message, doubtful=True)


def _computed(said: Said, root: str, space: AnySpace) -> Iterator[Contradiction]:
    """A field such as ``obs // 4 % 5``: try it on every value that the space has."""
    if not isinstance(space, spaces.Discrete) or not said.ranges:
        return
    try:
        values = [
            arithmetic(said.expression, {root: n})
            for n in range(int(space.start), int(space.start + space.n))
        ]
    except PathError as error:
        yield Contradiction(said.line, f"{said.name}: {error}")
        return
    low, high = said.ranges[0]
    if min(values) != low or max(values) != high:
        message = f"{said.name} takes the values {min(values):g} .. {max(values):g}, not {low:g} .. {high:g}."
        yield Contradiction(said.line, message)


def _form(root: str, part: SpecClass, space: AnySpace) -> Iterator[Contradiction]:
    """What the docstring's first lines say about shape, range and keys."""
    head = part.docstring.split("\n\n", maxsplit=1)[0].replace("\n", " ")
    for message in (
        *_array_form(root, head, space),
        *_whole_form(root, head, space),
        *_dict_form(root, head, space),
    ):
        yield Contradiction(part.line, message)


def _array_form(root: str, head: str, space: AnySpace) -> Iterator[str]:
    found = re.search(r"np\.ndarray(?: of \w+)?, shape \(([\d, ]*)\)(?:, (\w+))?", head)
    if found is None or isinstance(space, spaces.Dict | spaces.Tuple):
        return
    if isinstance(space, spaces.Discrete):
        yield f"the {root} is an int, not an array."
        return
    shape, actual = tuple(int(n) for n in re.findall(r"\d+", found[1])), tuple(space.shape or ())
    if shape != actual:
        yield f"the {root} has shape {actual}, not {shape}."
    if found[2] not in {str(space.dtype), "for", None}:
        yield f"the {root} has dtype {space.dtype}, not {found[2]}."


def _whole_form(root: str, head: str, space: AnySpace) -> Iterator[str]:
    found = re.match(r"(?:obs: |What act returns: )int, (-?\d+) \.\. (-?\d+)", head)
    if found is None:
        return
    if not isinstance(space, spaces.Discrete):
        yield f"the {root} is no int: it is {type(space).__name__}, shape {space.shape}."
        return
    first, last = int(space.start), int(space.start + space.n - 1)
    if (int(found[1]), int(found[2])) != (first, last):
        yield f"the {root} is {first} .. {last}, not {found[1]} .. {found[2]}."


def _dict_form(root: str, head: str, space: AnySpace) -> Iterator[str]:
    if not isinstance(space, spaces.Dict):
        return
    known = set(_keys(space))
    for key in re.findall(r'"(\w+)"', head):
        if key not in known:
            yield f"the {root} has no key {key!r}; it has {', '.join(space.spaces)}."


def _keys(space: AnySpace) -> Iterator[str]:
    """The keys of a space and of all that are nested in it."""
    parts: Iterable[AnySpace] = ()
    if isinstance(space, spaces.Dict):
        yield from map(str, space.spaces)
        parts = space.spaces.values()
    elif isinstance(space, spaces.Tuple | spaces.OneOf):
        parts = space.spaces
    elif isinstance(space, spaces.Sequence):
        parts = (space.feature_space,)
    for part in parts:
        yield from _keys(part)


def _action(part: SpecClass, space: AnySpace, actions: Sequence[Any]) -> Iterator[Contradiction]:
    yield from _part("action", part, space, actions, complete=True)
    example = re.search(r"for\s+example\s+(-?\d+)\.?(?:\s|$)", part.docstring)
    if not isinstance(space, spaces.Discrete):
        if part.constants:
            line = next(iter(part.constants.values()))[1]
            yield Contradiction(
                line, f"the action is no choice of numbered values: it is {type(space).__name__}."
            )
        return
    first, last = int(space.start), int(space.start + space.n - 1)
    if example and not first <= int(example[1]) <= last:
        yield Contradiction(
            part.line, f"the example {example[1]} is no action: actions are {first} .. {last}."
        )
    values: dict[int, str] = {}
    for name, (value, line) in part.constants.items():
        if not isinstance(value, int) or not first <= value <= last:
            yield Contradiction(line, f"{name} = {value} is no action: actions are {first} .. {last}.")
        elif value in values:
            yield Contradiction(line, f"{name}: the value {value} is already described as {values[value]}.")
        else:
            values[value] = name
    missing = sorted(set(range(first, last + 1)) - set(values))
    if part.constants and missing:
        yield Contradiction(
            part.line,
            f"it leaves out the action {', '.join(map(str, missing))}; there are {space.n}.",
            doubtful=True,
        )


def _reward(reading: Reading, facts: CheckableFacts) -> Iterator[Contradiction]:
    """Indices of observation and action inside the reward's code."""
    roots = {
        "obs": facts.observation_space,
        "next_obs": facts.observation_space,
        "action": facts.action_space,
    }
    for function in reading.functions:
        parameters = {arg.arg for arg in function.args.args}
        local = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for node in ast.walk(function):
            if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
                continue
            root = node.value.id
            if root not in roots or root not in parameters or root in local:
                continue
            try:
                walk(node, root, roots[root])
            except PathError as error:
                yield Contradiction(node.lineno, f"{function.name}: {error}")


def _episode(reading: Reading, facts: CheckableFacts, observed: Observed) -> Iterator[Contradiction]:
    episode, line = reading.episode, reading.episode_line
    if episode is None:
        return
    if not episode:
        yield Contradiction(line, "EPISODE has to be a dictionary of plain values.")
    for key in episode:
        if key not in EPISODE_KEYS:
            yield Contradiction(
                line, f"EPISODE has no key {key!r}; it has {', '.join(EPISODE_KEYS)}.", doubtful=True
            )
    steps = episode.get("max_steps", facts.horizon)
    if facts.horizon is not None and steps != facts.horizon:
        yield Contradiction(
            line,
            f"an episode has at most {facts.horizon} steps, not {steps}.",
            doubtful=facts.horizon_source in {"documentation", "source"},
        )
    threshold = episode.get("solved_from_mean_return")
    if threshold is not None and threshold != facts.reward_threshold:
        yield Contradiction(
            line,
            f"the task counts as solved from {facts.reward_threshold}, not from {threshold}.",
            doubtful=True,
        )
    for key in re.findall(r'info\["(\w+)"\]', str(episode.get("success", ""))):
        if not any(key in step.info for step in observed.steps):
            keys = ", ".join(observed.steps[-1].info) or "nothing"
            yield Contradiction(line, f"info reports no {key!r}; it reports {keys}.", doubtful=True)


def _declared(bound: float) -> bool:
    return math.isfinite(bound) and abs(bound) < NO_BOUND


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=1e-6)


def _slack(bound: float) -> float:
    return TOLERANCE * abs(bound) + 1e-6 if math.isfinite(bound) else 0.0
