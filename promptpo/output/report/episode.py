"""One episode of the best policy, as the report shows it: a film and lines over time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from promptpo.core.candidate import Seeds
from promptpo.errors import PromptPOError, RenderingError
from promptpo.files import Json
from promptpo.output.film import Film, film, record, trajectory_of
from promptpo.output.report.charts import Series, chart
from promptpo.output.run_view import RunView
from promptpo.prompts.columns import component_name, components, over_steps
from promptpo.prompts.feedback import number
from promptpo.spec.reading import names_of

if TYPE_CHECKING:
    from promptpo_sandbox import Trajectory

MOST_OBSERVATIONS, MOST_ACTIONS, MOST_DEBUG = 12, 6, 4
ROW = (400.0, 36.0)
"""Width and height of a row."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An episode as the report shows it.

    Attributes:
        seed: Seed of the episode.
        return_: Its return.
        steps: Its length.
        rows: (name, range, drawing) of observations, actions and rewards, in this order.
        left_out: Number of components of the observation that are not shown.
        film: The pictures, if any.
        note: One sentence about what is missing, and why; empty if nothing is.
    """

    seed: int
    return_: float
    steps: int
    rows: tuple[tuple[str, str, Markup], ...]
    left_out: int
    film: Film | None
    note: str


def show_episode(run: RunView, *, seconds: float, allow_weaker: bool, trust: bool = False) -> Shown | str:
    """Run the best policy for one typical test episode, in the sandbox, and film it.

    Args:
        run: The run.
        seconds: Time limit of rendering.
        allow_weaker: Accept a machine that lacks sandbox layers.
        trust: Import whatever the environment names.

    Returns:
        The episode, or one sentence that says why there is none.
    """
    if run.best is None:
        return "No policy ran, so there is no episode to show."
    config, seed = run.config, typical_seed(run)
    task = replace(config.task, files=None) if trust else config.task
    try:
        rollout = record(
            task,
            run.best.attempt.candidate.source,
            [seed],
            clip_actions=config.clip_actions,
            allow_weaker=allow_weaker,
        )
    except PromptPOError as error:
        return f"The episode could not be run: {error}"
    if rollout.failure is not None:
        return f"The episode could not be run: {rollout.failure.message}"
    episode = rollout.episodes[0]
    pictures, note = None, ""
    try:
        pictures = film(task, episode, seconds=seconds)
    except RenderingError as error:
        note = str(error)
    else:
        if not pictures.whole:
            note = "Rendering was slow; the film shows the beginning."
        if not pictures.same:
            note = "The environment did not repeat the episode exactly; the film shows another one with the same actions."
    rows, left_out = _rows(trajectory_of(episode), names_of(run.state.spec))
    return Shown(seed, episode.return_, episode.steps, rows, left_out, pictures, note)


def typical_seed(run: RunView) -> int:
    """Return the test seed with the median return, or the first training seed if there was no test."""
    returns: list[float | None] = ((run.result or {}).get("test") or {}).get("returns", [])
    values = sorted(value for value in returns if value is not None)
    if not values:
        return Seeds(run.config.seed).train(1)[0]
    return Seeds().test(len(returns))[returns.index(values[(len(values) - 1) // 2])]


Row = tuple[str, str, Markup]
"""(name, range, drawing) of a number over the steps."""


def _rows(trajectory: Trajectory, names: Mapping[str, str]) -> tuple[tuple[Row, ...], int]:
    """Return rows of observations, ``debug``, actions and rewards, and the number of observation components left out.

    Of many components, those that change most often are shown, in their own order.
    """
    observed = _columns([dict(components(observation, "obs")) for observation in trajectory.observations])
    often = sorted(observed, key=lambda name: -len(set(observed[name])))[:MOST_OBSERVATIONS]
    done = _columns([dict(components(action, "action")) for action in trajectory.actions])
    kept = {name: line for name, line in _columns(trajectory.debug).items() if None not in line}
    lines = [
        *(("obs", component_name(name, names), line) for name, line in observed.items() if name in often),
        *(("obs", f"debug.{name}", line) for name, line in list(kept.items())[:MOST_DEBUG]),
        *(("action", component_name(name, names), line) for name, line in list(done.items())[:MOST_ACTIONS]),
        ("reward", "reward", trajectory.rewards),
    ]
    steps = len(trajectory.rewards)
    return tuple(_row(*line, steps) for line in lines), len(observed) - len(often)


def _columns(rows: Sequence[Json]) -> dict[str, list[Any]]:
    """Return the values of each name over the steps; None where there is no number."""
    number_ = bool | int | float | np.number
    return {
        name: [float(v) if isinstance(v, number_) else None for v in line]
        for name, line in over_steps(rows).items()
    }


def _row(kind: str, name: str, line: Sequence[float | None], steps: int) -> Row:
    points = [(float(n), value) for n, value in enumerate(line) if value is not None and math.isfinite(value)]
    values = [value for _, value in points] or [math.nan]
    drawn = Series(points, f"series {kind}", "step" if all(v.is_integer() for v in values) else "line")
    ends = 0.0, float(max(1, steps))
    picture = chart([drawn], label=f"{name} over the steps", x=ends, small=ROW)
    return name, f"{number(min(values))} to {number(max(values))}", picture
