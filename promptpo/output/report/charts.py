"""The charts of pages, all by one function: lines and dots over two axes.

The drawing is in ``chart.svg.j2``. Colours are CSS classes, so that one drawing serves the light and the dark page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from markupsafe import Markup

from promptpo.output.report.templates import templates
from promptpo.telling.feedback import number

if TYPE_CHECKING:
    from promptpo.output.run_view import RunView
    from promptpo.run.state import CandidateState

SIZE = (480.0, 250.0)
"""Width and height of a chart in its own units; the page scales it to the column."""

SMALL = (96.0, 24.0)
"""Of a chart in a line of a table."""

Points = Sequence[tuple[float, float]]
Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Series:
    """What a chart draws in one way.

    Attributes:
        points: (x, y).
        class_: As the style sheet has it.
        kind: "line"; "step", where each value holds until the next; "dots".
        colour: As CSS writes it; empty for that of the class.
        title: What it is, for who points at it.
        link: The element of the page that its dots lead to; empty where they lead nowhere.
    """

    points: Points
    class_: str = "best"
    kind: Literal["line", "step", "dots"] = "step"
    colour: str = ""
    title: str = ""
    link: str = ""


def chart(
    series: Sequence[Series],
    *,
    label: str,
    title: str = "",
    x: Ends | None = None,
    y: Ends | None = None,
    small: tuple[float, float] | None = None,
) -> Markup:
    """A drawing, with a text for those who do not see it.

    Args:
        series: What is drawn, later ones above.
        label: The chart in words.
        title: Of the axis below.
        x: Values at both ends of that axis, which differ; None fits them to what is drawn.
        y: Those of the axis on the left.
        small: Width and height of one without axes, which is stretched to where it stands.
    """
    x = x or extent([point[0] for one in series for point in one.points])
    y = y or extent([point[1] for one in series for point in one.points])
    width, height = small or SIZE
    template = templates().get_template("chart.svg.j2")
    drawn = template.render(
        series=series, title=title, label=label, small=small, width=width, height=height,
        x=x, y=y, x_ticks=ticks(*x), y_ticks=ticks(*y),
    )  # fmt: skip
    return Markup(drawn)  # noqa: S704 - the template escapes


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
    return chart([Series(points)], label=label, x=(0.0, end or 1.0), small=SMALL)


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
    return Series([(spent, mean)], kind, "dots", title=f"{one.id}: return {number(mean)}", link=one.id)
