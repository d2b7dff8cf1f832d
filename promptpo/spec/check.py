"""Finding what a spec says that its environment contradicts."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium import spaces

from promptpo.envs.spaces import form_of
from promptpo.spec.fields import with_range
from promptpo.spec.observe import observe, open_env
from promptpo.spec.outline import outline_task
from promptpo.spec.parts import Field
from promptpo.spec.paths import PathError
from promptpo.spec.reading import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptpo.envs.spaces import AnySpace
    from promptpo.envs.task import Task
    from promptpo.spec.observe import Observed
    from promptpo.spec.reading import Reading, Said, SpecClass
    from promptpo.spec.task_spec import TaskSpec

EPISODE_KEYS = ("max_steps", "seconds_per_step", "start", "end", "seen", "success", "solved_from_mean_return")
BOUND_TOLERANCE = 0.01
"""Bounds may be rounded by one per cent."""


class Contradiction(NamedTuple):
    """Something that a spec says and that is not so.

    Attributes:
        line: Where it says it; 0 where it concerns the whole file.
        message: One sentence.
    """

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


def check_spec(text: str, task: Task) -> list[Contradiction]:
    """Compare a spec with the environment that it describes.

    Checked are indices, shapes, bounds, the values of actions, the horizon and the threshold. The text is parsed and
    never executed.

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
    with open_env(task) as env:
        observed = observe(env, task.name)
        return contradictions_in(reading, outline_task(env, task, observed), observed)


def contradictions_in(reading: Reading, spec: TaskSpec, observed: Observed) -> list[Contradiction]:
    """List the statements of a spec that are not so, in the order of its lines.

    Args:
        reading: The spec.
        spec: The environment's spaces, horizon and threshold.
        observed: Some of its steps.
    """
    actions = [step.action for step in observed.steps]
    found = [
        *_blocks(reading),
        *_part("obs", reading.parts.get("State"), spec.observation_space, observed.observations),
        *_part("action", reading.parts.get("Action"), spec.action_space, actions),
        *_choices(reading.parts.get("Action"), spec.action_space),
        *_episode(reading, spec),
    ]
    return sorted(dict.fromkeys(found))


def _blocks(reading: Reading) -> Iterator[Contradiction]:
    if not reading.blocks:
        yield Contradiction(0, "it is not a spec: it defines none of State, Action, reward, EPISODE.")
    for name in reading.parts.keys() - {"State", "Action"}:
        message = f"class {name} has no meaning in a spec; the classes are State and Action."
        yield Contradiction(reading.parts[name].line, message)


def _part(
    root: str, part: SpecClass | None, space: AnySpace, values: Sequence[Any]
) -> Iterator[Contradiction]:
    if part is None:
        return
    head = " ".join(part.docstring.split("\n\n", maxsplit=1)[0].split())
    form = re.match(
        r"(?:obs: |What act returns: )((?:np\.|int|dict|tuple|str).*?)\.?(?:, for example .*)?$", head
    )
    if form and not " ".join(form_of(space).split()).startswith(form[1]):
        yield Contradiction(part.line, f"the {root} is {form_of(space)}, not {form[1]}.")
    for said in part.fields:
        try:
            own = with_range(Field(said.name, ast.unparse(said.expression)), space, values)
        except PathError as error:
            yield Contradiction(said.line, f"{said.name}: {error}")
        else:
            yield from _ranges(said, own)


def _ranges(said: Said, own: Field) -> Iterator[Contradiction]:
    """Say what is wrong in the ranges of a field, compared with those declared and observed."""
    for low, high in said.ranges:
        if low > high:
            message = f"{said.name}: the lower bound {low:g} is above the upper bound {high:g}."
            yield Contradiction(said.line, message)
    kept = own.declared is not None and np.isfinite(own.declared).all() and not own.is_left
    real = own.declared if kept else own.seen
    if real is None or said.seen or not said.ranges:
        return
    lows, highs = zip(*said.ranges, strict=True)
    low, high = min(lows), max(highs)
    below, above = (BOUND_TOLERANCE * (1 + abs(bound)) for bound in (low, high))
    outside = real[0] < low - below or real[1] > high + above
    bounds = own.declared or np.nan
    if (kept or outside) and not np.allclose(bounds, (low, high), rtol=BOUND_TOLERANCE, atol=1e-6):
        where = f"{'lies' if kept else 'was observed'} in {real[0]:.6g} .. {real[1]:.6g}"
        yield Contradiction(said.line, f"{said.name} {where}, not in {low:g} .. {high:g}.")


def _choices(part: SpecClass | None, space: AnySpace) -> Iterator[Contradiction]:
    """The numbered values of a discrete action."""
    for constant in part.constants if part is not None else ():
        if not isinstance(space, spaces.Discrete) or not space.contains(constant.value):
            message = f"{constant.name} = {constant.value} is no action: the action is {form_of(space)}."
            yield Contradiction(constant.line, message)


def _episode(reading: Reading, spec: TaskSpec) -> Iterator[Contradiction]:
    episode, line = reading.episode, reading.episode_line
    if episode is None:
        return
    if not episode:
        yield Contradiction(line, "EPISODE has to be a dictionary of plain values.")
    for key in episode.keys() - set(EPISODE_KEYS):
        yield Contradiction(line, f"EPISODE has no key {key!r}; it has {', '.join(EPISODE_KEYS)}.")
    steps = episode.get("max_steps", spec.horizon)
    if spec.horizon is not None and steps != spec.horizon:
        message = f"an episode has at most {spec.horizon} steps, not {steps}."
        yield Contradiction(line, message)
    threshold = episode.get("solved_from_mean_return", spec.reward_threshold)
    if threshold != spec.reward_threshold:
        message = f"the task counts as solved from {spec.reward_threshold}, not from {threshold}."
        yield Contradiction(line, message)
