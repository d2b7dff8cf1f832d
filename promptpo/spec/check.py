"""Find statements of a spec that its environment contradicts."""

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
    from promptpo.spec.reading import Reading, SpecClass, SpecEntry
    from promptpo.spec.task_spec import TaskSpec

EPISODE_KEYS = ("max_steps", "seconds_per_step", "start", "end", "seen", "success", "solved_from_mean_return")
BOUND_TOLERANCE = 0.01
"""Relative tolerance for rounded bounds."""


class Contradiction(NamedTuple):
    """A false statement in a spec.

    Attributes:
        line: Line of the statement; 0 for the whole file.
        message: One sentence that corrects it.
    """

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


def check_spec(text: str, task: Task) -> list[Contradiction]:
    """Compare a spec with the environment it describes.

    Indices, shapes, bounds, action values, the horizon and the reward threshold are checked. The text is parsed,
    never executed.

    Args:
        text: The spec.
        task: The environment.

    Returns:
        The contradictions, ordered by line.

    Raises:
        PromptPOError: From `make_env`.
    """
    try:
        reading = read(text)
    except SyntaxError as error:
        return [Contradiction(error.lineno or 0, f"this is not valid Python: {error.msg}.")]
    with open_env(task) as env:
        observed = observe(env, task.name)
        return contradictions_in(reading, outline_task(env, task, observed), observed)


def contradictions_in(reading: Reading, spec: TaskSpec, observed: Observed) -> list[Contradiction]:
    """Return the contradictions between a spec and its environment, ordered by line.

    Args:
        reading: The parsed spec.
        spec: The environment's actual spaces, horizon and threshold.
        observed: Sample steps of the environment.
    """
    actions = [step.action for step in observed.steps]
    found = [
        *_check_blocks(reading),
        *_check_fields("obs", reading.parts.get("State"), spec.observation_space, observed.observations),
        *_check_fields("action", reading.parts.get("Action"), spec.action_space, actions),
        *_check_choices(reading.parts.get("Action"), spec.action_space),
        *_check_episode(reading, spec),
    ]
    return sorted(dict.fromkeys(found))


def _check_blocks(reading: Reading) -> Iterator[Contradiction]:
    if not reading.blocks:
        yield Contradiction(0, "it is not a spec: it defines none of State, Action, reward, EPISODE.")
    for name in reading.parts.keys() - {"State", "Action"}:
        message = f"class {name} has no meaning in a spec; the classes are State and Action."
        yield Contradiction(reading.parts[name].line, message)


def _check_fields(
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
    for entry in part.fields:
        try:
            own = with_range(Field(entry.name, ast.unparse(entry.expression)), space, values)
        except PathError as error:
            yield Contradiction(entry.line, f"{entry.name}: {error}")
        else:
            yield from _check_ranges(entry, own)


def _check_ranges(entry: SpecEntry, own: Field) -> Iterator[Contradiction]:
    """Compare the ranges stated for a field with the declared and observed ones."""
    for low, high in entry.ranges:
        if low > high:
            message = f"{entry.name}: the lower bound {low:g} is above the upper bound {high:g}."
            yield Contradiction(entry.line, message)
    kept = own.declared is not None and np.isfinite(own.declared).all() and not own.is_left
    real = own.declared if kept else own.seen
    if real is None or entry.is_observed or not entry.ranges:
        return
    lows, highs = zip(*entry.ranges, strict=True)
    low, high = min(lows), max(highs)
    below, above = (BOUND_TOLERANCE * (1 + abs(bound)) for bound in (low, high))
    outside = real[0] < low - below or real[1] > high + above
    bounds = own.declared or np.nan
    if (kept or outside) and not np.allclose(bounds, (low, high), rtol=BOUND_TOLERANCE, atol=1e-6):
        where = f"{'lies' if kept else 'was observed'} in {real[0]:.6g} .. {real[1]:.6g}"
        yield Contradiction(entry.line, f"{entry.name} {where}, not in {low:g} .. {high:g}.")


def _check_choices(part: SpecClass | None, space: AnySpace) -> Iterator[Contradiction]:
    """Check the numbered values of a discrete action."""
    for constant in part.constants if part is not None else ():
        if not isinstance(space, spaces.Discrete) or not space.contains(constant.value):
            message = f"{constant.name} = {constant.value} is no action: the action is {form_of(space)}."
            yield Contradiction(constant.line, message)


def _check_episode(reading: Reading, spec: TaskSpec) -> Iterator[Contradiction]:
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
