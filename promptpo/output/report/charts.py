"""The charts of pages, all by one function: lines, bars and dots over two axes.

Positions are made here and the drawing in ``chart.svg.j2``. Colours are CSS classes, so that one drawing serves the
light and the dark page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from markupsafe import Markup

from promptpo.output.report.templates import templates
from promptpo.telling.feedback import number

if TYPE_CHECKING:
    from promptpo.output.run_view import RunView
    from promptpo.run.state import CandidateState

WIDTH, HEIGHT = 480.0, 250.0
"""Of a chart in its own units; the page scales it to the column."""

SMALL = (96.0, 24.0)
"""Of a chart in a line of a table."""

Points = Sequence[tuple[float, float]]
Ends = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Series:
    """What a chart draws in one way.

    Attributes:
        points: (x, y).
        class_: As the style sheet has it.
        kind: "line"; "step", where each value holds until the next; "dots".
        colour: As CSS writes it; empty for that of the class.
        title: What it is, for who points at it.
        links: (element of the page, words) of each point, where dots lead there.
    """

    points: Points
    class_: str = "best"
    kind: Literal["line", "step", "dots"] = "step"
    colour: str = ""
    title: str = ""
    links: Sequence[tuple[str, str]] = ()


def chart(
    series: Sequence[Series],
    *,
    label: str,
    title: str = "",
    x: Ends = None,
    y: Ends = None,
    size: tuple[float, float] = (WIDTH, HEIGHT),
    small: bool = False,
) -> Markup:
    """A drawing, with a text for those who do not see it.

    Args:
        series: What is drawn, later ones above.
        label: The chart in words.
        title: Of the axis below.
        x: Values at both ends of that axis; None fits them to what is drawn.
        y: Those of the axis on the left.
        size: Width and height in its own units.
        small: Without axes; it is stretched to where it stands.
    """
    width, height = size
    left, right, top, bottom = (1, width - 1, 2, height - 2) if small else (52, width - 12, 12, height - 44)
    x_ends = _apart(x or extent([point[0] for one in series for point in one.points]))
    y_ends = _apart(y or extent([point[1] for one in series for point in one.points]))
    of_x, of_y = linear(*x_ends, left, right), linear(*y_ends, bottom, top)
    placed = [[(of_x(a), of_y(b)) for a, b in one.points] for one in series]
    return Markup(  # noqa: S704 - the template escapes
        templates()
        .get_template("chart.svg.j2")
        .render(
            drawn=[(one, points, _path(one.kind, points)) for one, points in zip(series, placed, strict=True)],
            x_ticks=[(of_x(value), f"{value:.6g}") for value in ticks(*x_ends)],
            y_ticks=[(of_y(value), f"{value:.6g}") for value in ticks(*y_ends)],
            title=title, label=label, small=small,
            width=width, height=height, left=left, right=right, bottom=bottom,
        )
    )  # fmt: skip


def _apart(ends: tuple[float, float]) -> tuple[float, float]:
    """Ends that differ."""
    return ends if ends[1] > ends[0] else extent(ends[:1])


def _path(kind: str, points: Points) -> str:
    """The path of a series through what it is placed at."""
    turns = "H{:.1f}V{:.1f}" if kind == "step" else "L{:.1f} {:.1f}"
    path = "".join(turns.format(*point) for point in points[1:])
    return "" if kind == "dots" or not points else "M{:.1f} {:.1f}".format(*points[0]) + path


def linear(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """The map from values to positions."""
    factor = (end - start) / (high - low)
    return lambda value: start + (value - low) * factor


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers within a range."""
    raw = (high - low) / about
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(magnitude * m for m in (1, 2, 5, 10) if magnitude * m >= raw)
    first = math.ceil(low / step - 1e-9)
    return [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]


def extent(values: Sequence[float]) -> tuple[float, float]:
    """The range of the finite values, with some air; (0, 1) when there are none."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    air = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    return low - air, high + air


def over(title: str, series: Sequence[Series], *, label: str) -> Markup:
    """Returns over what was spent: an axis that begins at 0."""
    most = max(x for one in series for x, _ in one.points) or 1.0
    return chart(series, label=label, title=title, x=(0.0, 1.02 * most))


def sparkline(points: Points) -> Markup:
    """A curve so small that it fits into a line of a table."""
    (_, first), (end, last) = points[0], points[-1]
    label = f"from {number(first)} to {number(last)}"
    return chart([Series(points)], label=label, x=(0.0, end or 1.0), size=SMALL, small=True)


SPENT = {"environment steps": "steps", "tokens": "tokens", "US dollars": "usd", "seconds": "seconds"}
"""What a search spends, and where `Spent` has it."""


def spending_charts(run: RunView) -> list[tuple[str, Markup]]:
    """Best mean return against steps, tokens, money and time: (what was spent, chart) pairs.

    Kinds of spending that the run did not have, such as tokens in a program search, are left out.
    """
    ran, known, charts = [one for one in run.candidates if one.ran], run.so_far, []
    for name, field in SPENT.items():
        spent = attrgetter(field)
        line = [(float(spent(at)), mean) for at, mean in known]
        end = max([x for x, _ in line] + [float(spent(one.spent)) for one in ran], default=0.0)
        if line and end > 0:
            dots = [_dot(one, float(spent(one.spent))) for one in ran]
            best = Series([*line, (end, line[-1][1])])
            charts.append((name, over(name, [*dots, best], label=f"Best mean return against {name}")))
    return charts


def _dot(one: CandidateState, spent: float) -> Series:
    """A candidate's mean return over training episodes."""
    candidate, mean = one.attempt.candidate, one.attempt.evaluation.mean_return
    kind = "duplicate" if candidate.duplicate_of else "tuned" if candidate.tuned else "written"
    return Series([(spent, mean)], kind, "dots", links=[(one.id, f"{one.id}: return {number(mean)}")])
