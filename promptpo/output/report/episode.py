"""One episode of the best policy, as the report shows it: a film and lines over time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from promptpo.errors import PromptPOError, RenderingError
from promptpo.output.film import Film, film, record, trajectory_of
from promptpo.output.report.charts import Axis, Series, chart
from promptpo.output.run_view import RunView
from promptpo.spec.reading import names_of
from promptpo.telling.columns import called, components
from promptpo.telling.feedback import number

MOST_OBSERVATIONS, MOST_ACTIONS, MOST_DEBUG, MOST_POINTS = 12, 6, 4, 400
ROW = (400.0, 36.0)
"""Width and height of a row."""


@dataclass(frozen=True, slots=True)
class EpisodeLine:
    """One number over the steps of an episode.

    Attributes:
        name: What it is called: by the spec where it has a name there, else by its place.
        values: One for each step; observations have one more.
        kind: "obs", "action" or "reward".
    """

    name: str
    values: tuple[float, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class Shown:
    """What the report shows of one episode.

    Attributes:
        seed: Of the episode.
        return_: Its return.
        steps: Its length.
        rows: (name, range, drawing) of what was observed, done and rewarded, in this order.
        left_out: How many components of the observation are not shown.
        film: Pictures; None where there are none.
        note: One sentence about what is missing, and why; empty when nothing is.
    """

    seed: int
    return_: float
    steps: int
    rows: tuple[tuple[str, str, Markup], ...]
    left_out: int
    film: Film | None
    note: str


def show_episode(run: RunView, *, seconds: float, allow_weaker: bool) -> Shown | str:
    """Run the best policy for one typical test episode, in the sandbox, and film it.

    Args:
        run: The run.
        seconds: How long rendering may take.
        allow_weaker: Accept a machine that lacks sandbox layers.

    Returns:
        The episode; or, where there is none, one sentence that says why.
    """
    best = run.best
    if best is None:
        return "No policy ran, so there is no episode to show."
    config = run.config
    seed = typical_seed(run)
    try:
        rollout = record(
            config.task,
            best.attempt.candidate.source,
            [seed],
            clip_actions=config.clip_actions,
            allow_weaker=allow_weaker,
        )
    except PromptPOError as error:
        return f"The episode could not be run: {error}"
    if rollout.failure is not None:
        return f"The episode could not be run: {rollout.failure.message}"
    episode = rollout.episodes[0]
    trajectory = trajectory_of(episode)
    names = names_of(run.state.spec)
    observed, left_out = _observations(trajectory.observations, names)
    pictures, note = None, ""
    try:
        pictures = film(config.task, episode, seconds=seconds)
    except RenderingError as error:
        note = str(error)
    else:
        if not pictures.whole:
            note = "Rendering was slow; the film shows the beginning."
        if not pictures.same:
            note = "The environment did not repeat the episode exactly; the film shows another one with the same actions."
    series = [
        *observed,
        *_debug(trajectory.debug),
        *_columns(trajectory.actions, "action", names)[:MOST_ACTIONS],
        EpisodeLine("reward", tuple(map(float, trajectory.rewards)), "reward"),
    ]
    rows = tuple(_row(one, episode.steps) for one in series)
    return Shown(seed, episode.return_, episode.steps, rows, left_out, pictures, note)


def typical_seed(run: RunView) -> int:
    """The test seed with the median return, or the first training seed where there was no test."""
    from promptpo.run.records import Seeds

    returns: list[float | None] = ((run.result or {}).get("test") or {}).get("returns", [])
    values = [value for value in returns if value is not None]
    if not values:
        return Seeds(run.config.seed).train(1)[0]
    median = sorted(values)[(len(values) - 1) // 2]
    return Seeds().test(len(returns))[returns.index(median)]


def _columns(values: Sequence[Any], kind: str, names: Mapping[str, str]) -> list[EpisodeLine]:
    if not values:
        return []
    rows = [dict(components(value, kind)) for value in values]
    labels = list(dict.fromkeys(label for row in rows for label in row))
    table = np.array([[row.get(label, math.nan) for label in labels] for row in rows])
    return [
        EpisodeLine(called(label, names), tuple(table[:, i].tolist()), kind) for i, label in enumerate(labels)
    ]


def _observations(values: Sequence[Any], names: Mapping[str, str]) -> tuple[list[EpisodeLine], int]:
    """The components that change most often, in their own order."""
    columns = _columns(values, "obs", names)
    if len(columns) <= MOST_OBSERVATIONS:
        return columns, 0
    changes = [len(set(column.values)) for column in columns]
    kept = sorted(sorted(range(len(columns)), key=lambda i: -changes[i])[:MOST_OBSERVATIONS])
    return [columns[i] for i in kept], len(columns) - len(kept)


def _debug(values: Sequence[Mapping[str, Any]]) -> list[EpisodeLine]:
    """The numbers that the policy kept in its ``debug`` in every step, words and gaps left out."""
    names = list(values[0]) if values else []
    whole = [n for n in names if all(isinstance(kept.get(n), bool | int | float) for kept in values)]
    return [
        EpisodeLine(f"debug.{name}", tuple(float(kept[name]) for kept in values), "obs")
        for name in whole[:MOST_DEBUG]
    ]


def _row(one: EpisodeLine, steps: int) -> tuple[str, str, Markup]:
    """(name, range, drawing) of a number over the steps."""
    points = _thinned(one.values)
    values = [value for _, value in points] or [math.nan]
    line = Series(points, f"series {one.kind}", "step" if all(v.is_integer() for v in values) else "line")
    axis = Axis(ends=(0.0, float(max(1, steps))))
    drawn = chart([line], axis, label=f"{one.name} over the steps", size=ROW, small=True)
    return one.name, f"{number(min(values))} to {number(max(values))}", drawn


def _thinned(values: Sequence[float]) -> list[tuple[float, float]]:
    """(step, value) pairs, few enough to draw: of every stretch its least and its greatest value."""
    known = [(float(i), value) for i, value in enumerate(values) if math.isfinite(value)]
    stride = math.ceil(len(known) / MOST_POINTS)
    if stride <= 2:  # noqa: PLR2004 - then both ends of every stretch are all there is
        return known
    kept = []
    for start in range(0, len(known), stride):
        stretch = known[start : start + stride]
        by_value = sorted(stretch, key=lambda point: point[1])
        kept.extend(sorted({by_value[0], by_value[-1]}))
    return kept
