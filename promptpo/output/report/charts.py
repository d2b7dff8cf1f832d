"""The charts of pages, all by one function: lines and dots over two axes.

The drawing is in ``chart.svg.j2``. Colours are CSS classes, so that one drawing serves the light and the dark page.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

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
"""Of a chart in a line of a table."""

Points = Sequence[tuple[float, float]]
Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Series:
    """A series of points that a chart draws in one style.

    Attributes:
        points: (x, y).
        class_: As the style sheet has it.
        kind: "line"; "step", where each value holds until the next; "dots".
        colour: As CSS writes it; empty for that of the class.
        title: What it is, for who points at it.
        link: The element of the page that its dots lead to; empty where they lead nowhere.
        error: Half the length of a bar through each dot; 0 draws none.
        tips: What each dot says to who points at it; empty leaves it to the title.
    """

    points: Points
    class_: str = "best"
    kind: Literal["line", "step", "dots"] = "step"
    colour: str = ""
    title: str = ""
    link: str = ""
    error: float = 0.0
    tips: Sequence[str] = ()


def chart(
    series: Sequence[Series],
    *,
    label: str,
    title: str = "",
    left: str | Sequence[str] = "",
    x: Ends | None = None,
    y: Ends | None = None,
    small: tuple[float, float] | None = None,
) -> Markup:
    """A drawing, with a text for those who do not see it.

    Args:
        series: What is drawn, later ones above.
        label: The chart in words.
        title: Of the axis below.
        left: Title of the axis on the left; or names of rows at the heights 0, -1, -2 and so on, in the place of numbers.
        x: Values at both ends of that axis, which differ; None fits them to what is drawn.
        y: Those of the axis on the left.
        small: Width and height of one without axes, which is stretched to where it stands.
    """
    left_title, names = (left, ()) if isinstance(left, str) else ("", left)
    x = x or extent([point[0] for line in series for point in line.points])
    ends = [point[1] + way * line.error for line in series for point in line.points for way in (-1, 1)]
    y = y or ((-len(names) + 0.5, 0.5) if names else extent(ends))
    width, height = small or (SIZE[0], 80 + 34.0 * len(names) if names else SIZE[1])
    template = templates().get_template("chart.svg.j2")
    drawn = template.render(
        series=series, title=title, left_title=left_title, names=names, label=label, small=small, width=width, height=height,
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
    most = max(x for line in series for x, _ in line.points) or 1.0
    return chart(series, label=label, title=title, left="mean return", x=(0.0, 1.02 * most))


def sparkline(points: Points, kind: Literal["line", "step"] = "step") -> Markup:
    """A curve so small that it fits into a line of a table."""
    (_, first), (end, last) = points[0], points[-1]
    label = f"from {number(first)} to {number(last)}"
    return chart([Series(points, kind=kind)], label=label, x=(0.0, end or 1.0), small=SPARKLINE_SIZE)


SPENT = {"environment steps": "steps", "tokens": "tokens", "US dollars": "usd", "seconds": "seconds"}
"""What a search spends, and where `Spent` has it."""


def spending_charts(run: RunView) -> list[tuple[str, Markup]]:
    """Best mean return against steps, tokens, money and time: (what was spent, chart) pairs.

    Kinds of spending that the run did not have, such as tokens in a program search, are left out.
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
    """A candidate's mean return over training episodes."""
    candidate, mean = state.attempt.candidate, state.attempt.evaluation.mean_return
    kind = "duplicate" if candidate.duplicate_of else "tuned" if candidate.tuned else "written"
    error = Evidence.of(state.attempt.evaluation.episodes).standard_error
    said = f"{state.id}: return {with_noise(mean, error)}, after {number(spent)}"
    error = error if math.isfinite(error) else 0.0
    return Series([(spent, mean)], kind, "dots", title=said, link=state.id, error=error)


class Node(NamedTuple):
    """A candidate in the tree of a run.

    Attributes:
        id: Of the candidate.
        x: Where it stands.
        y: Where it stands.
        said: What it says to who points at it.
        share: How good it is, from 0 for the worst to 1 for the best; None where it did not run.
        leads: Whether the best comes from it, or is it.
        parents: Where its parents stand.
    """

    id: str
    x: float
    y: float
    said: str
    share: float | None
    leads: bool
    parents: Sequence[tuple[float, float]]


COLUMN, ROW = 110.0, 34.0
"""Between the nodes of a tree."""


def score_shares(run: RunView) -> dict[str, float]:
    """How good each candidate that ran is, from 0 for the worst to 1 for the best, by rank: no outlier hides the rest."""
    means = {state.id: state.evidence.mean_return for state in run.candidates if state.ran}
    ranked = sorted(means.values())
    return {name: (bisect_right(ranked, mean) - 1) / max(1, len(ranked) - 1) for name, mean in means.items()}


def lineage_tree(run: RunView) -> Markup | str:
    """Who came from whom: a column for each round, a line from each candidate to its parents; empty with one candidate."""
    if len(run.candidates) < 2:  # noqa: PLR2004 - nothing to join
        return ""
    shares, leading = score_shares(run), {state.id for state in run.lineage}
    columns = {round_: n for n, round_ in enumerate(sorted({state.round for state in run.candidates}))}
    places: dict[str, tuple[float, float]] = {}
    filled: dict[int, int] = {}
    for state in run.candidates:
        row = filled[state.round] = filled.get(state.round, -1) + 1
        places[state.id] = (8 + COLUMN * columns[state.round], 8 + ROW * row)
    nodes = []
    for state in run.candidates:
        told = (
            f"return {number(state.evidence.mean_return)}" if state.ran else state.attempt.evaluation.outcome
        )
        parents = [places[name] for name in state.attempt.candidate.parents if name in places]
        nodes.append(
            Node(
                state.id,
                *places[state.id],
                f"{state.id}: {told}",
                shares.get(state.id),
                state.id in leading,
                parents,
            )
        )
    size = {"width": COLUMN * len(columns), "height": 12 + ROW * (1 + max(filled.values()))}
    drawn = templates().get_template("tree.svg.j2").render(nodes=nodes, rounds=columns, column=COLUMN, **size)
    return Markup(drawn)  # noqa: S704 - the template escapes
