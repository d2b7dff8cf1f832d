"""The charts of pages: lines and dots over an axis, rows of intervals, and the candidates of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from promptpo.output.report.svg import Frame, drawing, element, extent, short_number
from promptpo.telling.feedback import OUTCOME_WORDS, number

if TYPE_CHECKING:
    from promptpo.output.run_view import RunView
    from promptpo.run.state_values import CandidateState, Spent

HEIGHT = 250.0
LONGEST = 26
"""Letters of a row's name that are shown."""


def stroke(colour: str) -> str:
    """The style of a line in a colour of the style sheet."""
    return f"stroke: var(--{colour}); fill: none; stroke-width: 2"


Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart.

    Attributes:
        points: (x, y).
        class_: As the style sheet has it.
        style: What it has beside.
        dashes: Of its stroke; None for a whole line.
        title: What it is, for who points at it.
        step: Each value holds until the next.
    """

    points: Points
    class_: str = "best"
    style: str | None = None
    dashes: str | None = None
    title: str = ""
    step: bool = True


def over(
    title: str,
    lines: Sequence[Line],
    dots: Points = (),
    *,
    label: str,
    tick: Callable[[float], str] = short_number,
) -> Markup:
    """Lines and dots over an axis that begins at 0; what holds to the end is drawn to the end.

    Args:
        title: Of the axis.
        lines: At least one, with at least one point each.
        dots: (x, y) of single values.
        label: The chart in words.
        tick: Writes the axis' values.
    """
    points = [*(point for line in lines for point in line.points), *dots]
    frame = Frame((0.0, 1.02 * (max(x for x, _ in points) or 1.0)), extent([y for _, y in points]))
    marks = [element("circle", cx=frame.x(x), cy=frame.y(y), r=2.5, class_="written") for x, y in dots]
    drawn = [
        element(
            "g",
            element("title", line.title) if line.title else "",
            frame.line(
                line.points, line.class_, step=line.step, style=line.style, stroke_dasharray=line.dashes
            ),
        )
        for line in lines
    ]
    return drawing(frame.y_axis(), frame.x_axis(title, tick), *marks, *drawn, height=HEIGHT, label=label)


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """A mean with its interval, and single values behind it."""

    name: str
    mean: float
    interval: Sequence[float | None]
    values: Sequence[float | None] = ()
    class_: str = ""
    colour: str = ""
    dashes: str | None = None


def rows(found: Sequence[IntervalRow], title: str, *, label: str) -> Markup:
    """Rows of means with their 95 % intervals over one axis."""
    bounds = [v for row in found for v in (row.mean, *row.interval, *row.values) if v is not None]
    left = 16.0 + 6.2 * min(LONGEST, max(len(row.name) for row in found))
    height = 30.0 * len(found) + 48
    frame = Frame(extent(bounds), (0.0, 1.0), left=left, bottom=height - 40)
    parts = [frame.x_axis(title)]
    for n, row in enumerate(found):
        y, name = 20.0 + 30 * n, row.name
        name = name if len(name) <= LONGEST else f"…{name[1 - LONGEST :]}"
        parts.append(element("text", name, x=left - 8, y=y + 4, text_anchor="end"))
        parts += [
            element("circle", cx=frame.x(v), cy=y + _jitter(i), r=2, class_="episode")
            for i, v in enumerate(row.values)
            if v is not None
        ]
        low, high = row.interval
        if low is not None and high is not None:
            ends = {"x1": frame.x(low), "x2": frame.x(high), "y1": y, "y2": y}
            drawn = row.colour and stroke(row.colour)
            parts.append(element("line", **ends, class_="interval", style=drawn, stroke_dasharray=row.dashes))
        fill = row.colour and f"fill: var(--{row.colour})"
        parts.append(
            element("circle", cx=frame.x(row.mean), cy=y, r=5, class_=f"mean {row.class_}", style=fill)
        )
    return drawing(*parts, height=height, label=label)


def _jitter(i: int) -> float:
    """Spread dots of equal value a little, the same way every time."""
    return ((i * 7) % 11 - 5) * 1.1


def sparkline(points: Points) -> Markup:
    """A curve so small that it fits into a line of a table."""
    xs, ys = zip(*points, strict=True)
    frame = Frame((0.0, max(xs) or 1.0), extent(ys), left=1, right=95, top=2, bottom=22)
    path = frame.line([*points, (max(xs), ys[-1])], "best", step=True)
    return drawing(path, height=24, width=96, label=f"from {number(ys[0])} to {number(ys[-1])}", fixed=True)


def selection_chart(result: Mapping[str, Any]) -> Markup:
    """The chosen candidate's mean return on training and validation seeds, on both, and on test seeds, with intervals."""
    found = [
        IntervalRow(name, part["mean_return"], part["ci95"], part["returns"], name)
        for name in ("train", "validation", "evidence", "test")
        if (part := result.get(name)) and part["mean_return"] is not None
    ]
    title = "return (each dot an episode; bar: 95 % interval of the mean)"
    return rows(found, title, label="Return of the best on training, validation and test seeds")


def spending_charts(run: RunView) -> list[tuple[str, Markup]]:
    """Best mean return against steps, tokens, money and time: (what was spent, chart) pairs.

    Kinds of spending that the run did not have, such as tokens in a program search, are left out.
    """
    kinds: list[tuple[str, Callable[[Spent], float], Callable[[float], str]]] = [
        ("environment steps", lambda s: float(s.steps), short_number),
        ("tokens", lambda s: float(s.tokens), short_number),
        ("US dollars", lambda s: s.usd, lambda v: f"${v:.4g}"),
        ("seconds", lambda s: s.seconds, short_number),
    ]
    ran = [(one.spent, one.attempt.evaluation.mean_return) for one in run.candidates if one.ran]
    known = run.so_far
    charts = []
    for name, of, tick in kinds:
        end = max([of(spent) for spent, _ in (*ran, *known)], default=0.0)
        if known and end > 0:
            points = [(of(spent), mean) for spent, mean in known]
            line, dots = Line([*points, (end, points[-1][1])]), [(of(spent), value) for spent, value in ran]
            label = f"Best mean return against {name}"
            charts.append((name, over(name, [line], dots, label=label, tick=tick)))
    return charts


def candidates_chart(run: RunView) -> Markup:
    """Every candidate in order: its training episodes' range and mean, its validation mean, its failure."""
    found = run.candidates
    values = [value for one in found if one.ran for value in one.attempt.evaluation.returns]
    values += [one.validation.mean_return for one in found if one.validation]
    frame = Frame((-0.7, len(found) - 0.3), extent(values), bottom=200.0)
    parts = [frame.y_axis(), *(_candidate_mark(frame, n, state) for n, state in enumerate(found))]
    parts += [
        element("text", f"r{state.round}", x=frame.x(n), y=218, text_anchor="middle")
        for n, state in enumerate(found)
        if (not n or found[n - 1].round != state.round) and state.round % (1 + len(run.rounds) // 16) == 0
    ]
    middle = (frame.left + frame.right) / 2
    parts.append(
        element("text", "candidates, by round", x=middle, y=240, text_anchor="middle", class_="title")
    )
    label = f"Return of {len(found)} candidates in {len(run.rounds)} rounds"
    return drawing(*parts, height=HEIGHT, label=label)


def _candidate_mark(frame: Frame, n: int, state: CandidateState) -> Markup:
    attempt, evaluation, x = state.attempt, state.attempt.evaluation, frame.x(n)
    size = max(2.5, min(5.0, 160.0 / (frame.x_range[1] - frame.x_range[0])))
    parts: list[Markup] = []
    if evaluation.outcome != "ok" or not evaluation.episodes:
        text = f"{attempt.id}: {OUTCOME_WORDS[evaluation.outcome]}"
        parts.append(
            element("text", "\u00d7", x=x, y=frame.bottom - 4, text_anchor="middle", class_="failed")
        )
    else:
        text = f"{attempt.id}: mean return {number(evaluation.mean_return)}"
        low, high = frame.y(min(evaluation.returns)), frame.y(max(evaluation.returns))
        parts.append(element("line", x1=x, x2=x, y1=low, y2=high, class_="range"))
        kind = "tuned" if attempt.candidate.tuned else "written"
        kind = "duplicate" if attempt.candidate.duplicate_of else kind
        parts.append(element("circle", cx=x, cy=frame.y(evaluation.mean_return), r=size, class_=kind))
    if state.validation and state.validation.outcome == "ok" and not math.isnan(state.validation.mean_return):
        y, half = frame.y(state.validation.mean_return), size + 2
        text += f", validation {number(state.validation.mean_return)}"
        diamond = f"M{x} {y - half}L{x + half} {y}L{x} {y + half}L{x - half} {y}Z"
        parts.append(element("path", d=diamond, class_="validation"))
    return element("a", element("title", text), *parts, href=f"#{attempt.id}", tabindex="-1", aria_label=text)
