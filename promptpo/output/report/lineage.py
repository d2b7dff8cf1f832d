"""The lineage of candidates as a picture: who was shown to the model when it wrote whom."""

from __future__ import annotations

from markupsafe import Markup

from promptpo.output.report.svg import drawing, element
from promptpo.output.run_view import RunView
from promptpo.run.state_values import CandidateState
from promptpo.telling.feedback import OUTCOME_WORDS, number

COLUMN, ROW, BOX_WIDTH, BOX_HEIGHT = 156.0, 34.0, 116.0, 24.0


def lineage_chart(run: RunView) -> Markup:
    """A column for each round, a box for each candidate, a line from each parent.

    Lines to ancestors of the best candidate are strong, the others faint; a box links to its candidate.
    """
    rounds = run.rounds
    places: dict[str, tuple[float, float]] = {}
    for column, round_ in enumerate(rounds):
        of_round = [c for c in run.candidates if c.round == round_]
        for row, state in enumerate(of_round):
            places[state.id] = (8 + column * COLUMN, 30 + row * ROW)
    strong = ancestry(run)
    parts = [
        element("text", f"round {round_}", x=8 + column * COLUMN + BOX_WIDTH / 2, y=16, text_anchor="middle")
        for column, round_ in enumerate(rounds)
    ]
    faint: list[Markup] = []
    bold: list[Markup] = []
    for state in run.candidates:
        for parent in state.attempt.candidate.parents:
            if parent in places:
                is_strong = parent in strong and state.id in strong
                path = _edge(places[parent], places[state.id], strong=is_strong)
                (bold if is_strong else faint).append(path)
    boxes = [_box(state, *places[state.id], best=state is run.best) for state in run.candidates]
    width = 8 + len(rounds) * COLUMN
    height = max(y for _, y in places.values()) + ROW + 4
    label = "Lineage of the candidates; each box names its candidate and its mean training return"
    return drawing(*parts, *faint, *bold, *boxes, height=height, width=width, label=label, fixed=True)


def ancestry(run: RunView) -> set[str]:
    """The best candidate and all its ancestors."""
    known = {state.id: state for state in run.candidates}
    left = [run.best.id] if run.best else []
    found: set[str] = set()
    while left:
        name = left.pop()
        if name in known and name not in found:
            found.add(name)
            left.extend(known[name].attempt.candidate.parents)
    return found


def _edge(start: tuple[float, float], end: tuple[float, float], *, strong: bool) -> Markup:
    x1, y1 = start[0] + BOX_WIDTH, start[1] + BOX_HEIGHT / 2
    x2, y2 = end[0], end[1] + BOX_HEIGHT / 2
    if x2 <= start[0]:  # tuned in the same round: along the column's right edge
        x2 = end[0] + BOX_WIDTH
        d = f"M{x1} {y1}C{x1 + 26} {y1} {x2 + 26} {y2} {x2} {y2}"
    else:
        bend = (x2 - x1) / 2
        d = f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"
    return element("path", d=d, class_="edge strong" if strong else "edge")


def _box(state: CandidateState, x: float, y: float, *, best: bool) -> Markup:
    attempt, evaluation = state.attempt, state.attempt.evaluation
    if attempt.candidate.duplicate_of:
        value, kind = f"= {attempt.candidate.duplicate_of}", "duplicate"
    elif evaluation.outcome != "ok":
        value, kind = evaluation.outcome.partition("_")[0], "failed"
    else:
        value, kind = number(evaluation.mean_return), "ran"
    words = OUTCOME_WORDS[evaluation.outcome] if evaluation.outcome != "ok" else value
    return element(
        "a",
        element("title", f"{attempt.id}: {words}"),
        element("rect", x=x, y=y, width=BOX_WIDTH, height=BOX_HEIGHT, rx=5, class_=f"box {kind}{' best' if best else ''}"),
        element("text", attempt.id, x=x + 7, y=y + 16, class_="name"),
        element("text", value[:9], x=x + BOX_WIDTH - 7, y=y + 16, text_anchor="end"),
        href=f"#{attempt.id}",
        aria_label=f"{attempt.id}: {words}",
    )  # fmt: skip
