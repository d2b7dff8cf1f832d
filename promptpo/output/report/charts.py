"""The charts of pages, all drawn by one function: lines and dots over two axes.

The drawing is in ``chart.svg.j2``. Colours are CSS classes, so that one drawing serves the light and the dark page.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from markupsafe import Markup

from promptpo.core.returns import Evidence
from promptpo.output.report.templates import templates
from promptpo.prompts.feedback import number, with_noise

if TYPE_CHECKING:
    from promptpo.output.run_view import RunView
    from promptpo.run.state import CandidateState

SIZE = (480.0, 250.0)
"""Width and height of a chart in its own units; the page scales it to the column."""

SPARKLINE_SIZE = (96.0, 24.0)
"""Width and height of a chart in a row of a table."""

Points = Sequence[tuple[float, float]]
Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Series:
    """A series of points that a chart draws in one style.

    Attributes:
        points: (x, y) pairs.
        class_: Class in the style sheet.
        kind: "line"; "step", where each value holds until the next; "dots".
        colour: CSS colour; empty for that of the class.
        title: Tooltip of the series.
        link: ID of the page's element that its dots link to; empty for none.
        error: Half the length of a bar through each dot; 0 draws none.
    """

    points: Points
    class_: str = "best"
    kind: Literal["line", "step", "dots"] = "step"
    colour: str = ""
    title: str = ""
    link: str = ""
    error: float = 0.0


def chart(
    series: Sequence[Series],
    *,
    label: str,
    title: str = "",
    left: str = "",
    x: Ends | None = None,
    y: Ends | None = None,
    small: tuple[float, float] | None = None,
) -> Markup:
    """Draw a chart, with a text alternative.

    Args:
        series: The series to draw, later ones on top.
        label: The text alternative.
        title: Title of the x axis.
        left: Title of the y axis.
        x: Two different values at the ends of the x axis; None fits them to the data.
        y: The same for the y axis.
        small: Width and height of a chart without axes, which is stretched to fit its place.
    """
    x = x or extent([point[0] for line in series for point in line.points])
    ends = [point[1] + way * line.error for line in series for point in line.points for way in (-1, 1)]
    y = y or extent(ends)
    width, height = small or SIZE
    template = templates().get_template("chart.svg.j2")
    drawn = template.render(
        series=series, title=title, y_title=left, label=label, small=small, width=width, height=height,
        x=x, y=y, x_ticks=ticks(*x), y_ticks=ticks(*y),
    )  # fmt: skip
    return Markup(drawn)  # noqa: S704 - the template escapes


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers within a range."""
    raw = (high - low) / about
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(magnitude * m for m in (1, 2, 5, 10) if magnitude * m >= raw)
    first = math.ceil(low / step - 1e-9)
    return [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]


def extent(values: Sequence[float]) -> tuple[float, float]:
    """Return the range of the finite values with a margin; (0, 1) if there are none."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    air = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    return low - air, high + air


def over(title: str, series: Sequence[Series], *, label: str) -> Markup:
    """Draw returns over what was spent, on an axis that begins at 0."""
    most = max(x for line in series for x, _ in line.points) or 1.0
    return chart(series, label=label, title=title, left="mean return", x=(0.0, 1.02 * most))


def sparkline(points: Points, kind: Literal["line", "step"] = "step") -> Markup:
    """Draw a curve small enough for a row of a table."""
    (_, first), (end, last) = points[0], points[-1]
    label = f"from {number(first)} to {number(last)}"
    return chart([Series(points, kind=kind)], label=label, x=(0.0, end or 1.0), small=SPARKLINE_SIZE)


SPENT = {"environment steps": "steps", "tokens": "tokens", "US dollars": "usd", "seconds": "seconds"}
"""Resources that a search spends, and their fields in `Spent`."""


def spending_charts(run: RunView) -> list[tuple[str, Markup]]:
    """Draw best mean return against steps, tokens, money and time: (what was spent, chart) pairs.

    Resources that the run did not spend, such as tokens in a program search, are left out.
    """
    ran, known, charts = [candidate for candidate in run.candidates if candidate.ran], run.so_far, []
    for name, field in SPENT.items():
        spent = attrgetter(field)
        line = [(float(spent(at)), mean) for at, mean in known]
        end = max([x for x, _ in line] + [float(spent(candidate.spent)) for candidate in ran], default=0.0)
        if line and end > 0:
            dots = [_dot(candidate, float(spent(candidate.spent))) for candidate in ran]
            best = Series([*line, (end, line[-1][1])])
            charts.append((name, over(name, [*dots, best], label=f"Best mean return against {name}")))
    return charts


def _dot(state: CandidateState, spent: float) -> Series:
    """Return a dot for a candidate's mean return over training episodes."""
    candidate, mean = state.attempt.candidate, state.attempt.evaluation.mean_return
    kind = "duplicate" if candidate.duplicate_of else "tuned" if candidate.tuned else "written"
    error = Evidence.of(state.attempt.evaluation.episodes).standard_error
    tooltip = f"{state.id}: return {with_noise(mean, error)}, after {number(spent)}"
    error = error if math.isfinite(error) else 0.0
    return Series([(spent, mean)], kind, "dots", title=tooltip, link=state.id, error=error)


def score_shares(run: RunView) -> dict[str, float]:
    """Return the rank of each candidate that ran, from 0 for the worst to 1 for the best; outliers do not hide the rest."""
    means = {state.id: state.evidence.mean_return for state in run.candidates if state.ran}
    ranked = sorted(means.values())
    return {name: (bisect_right(ranked, mean) - 1) / max(1, len(ranked) - 1) for name, mean in means.items()}
