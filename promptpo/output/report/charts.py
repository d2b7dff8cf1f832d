"""The charts of a run: return by candidate, return against what was spent, selection against test."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from promptpo.output.report.svg import WIDTH, Frame, drawing, element, extent, short_number
from promptpo.output.run_view import RunView
from promptpo.run.state_values import CandidateState, Spent
from promptpo.telling.feedback import OUTCOME_WORDS, number

HEIGHT = 250.0


def candidates_chart(run: RunView) -> Markup:
    """Every candidate in order: its training episodes' range and mean, its validation mean, its failure."""
    candidates = run.candidates
    values = [value for e in candidates for value in _values(e)]
    frame = Frame((-0.7, len(candidates) - 0.3), extent(values), bottom=200.0)
    parts = [frame.y_axis(), _round_bands(frame, candidates)]
    parts.extend(_candidate_mark(frame, n, state) for n, state in enumerate(candidates))
    middle = (frame.left + frame.right) / 2
    parts.append(
        element("text", "candidates, by round", x=middle, y=240, text_anchor="middle", class_="title")
    )
    label = f"Return of {len(candidates)} candidates in {len(run.rounds)} rounds"
    return drawing(*parts, height=HEIGHT, label=label)


def _values(state: CandidateState) -> list[float]:
    values = list(state.attempt.evaluation.returns) if state.attempt.evaluation.outcome == "ok" else []
    return values + ([state.validation.mean_return] if state.validation else [])


def _round_bands(frame: Frame, candidates: Sequence[CandidateState]) -> Markup:
    """A shade behind every other round, and the rounds' numbers."""
    parts: list[Markup] = []
    rounds = [state.round for state in candidates]
    shown = sorted(set(rounds))
    every = max(1, math.ceil(len(shown) / 16))
    for n, round_ in enumerate(shown):
        first, last = rounds.index(round_), len(rounds) - 1 - rounds[::-1].index(round_)
        start, end = frame.x(first - 0.5), frame.x(last + 0.5)
        if n % 2 == 0:
            parts.append(
                element("rect", x=start, y=frame.top, width=end - start, height=frame.bottom - frame.top, class_="band")
            )  # fmt: skip
        if n % every == 0:
            parts.append(element("text", str(round_), x=(start + end) / 2, y=218, text_anchor="middle"))
    return Markup("").join(parts)


def _candidate_mark(frame: Frame, n: int, state: CandidateState) -> Markup:
    attempt, evaluation = state.attempt, state.attempt.evaluation
    x = frame.x(n)
    size = max(2.5, min(5.0, 160.0 / max(1.0, (frame.x_range[1] - frame.x_range[0]))))
    parts: list[Markup] = []
    if evaluation.outcome != "ok" or not evaluation.episodes:
        text = f"{attempt.id}: {OUTCOME_WORDS[evaluation.outcome]}"
        at = frame.bottom - 8
        cross = (
            f"M{x - size} {at - size}L{x + size} {at + size}M{x - size} {at + size}L{x + size} {at - size}"
        )
        parts.append(element("path", d=cross, class_="failed"))
    else:
        text = f"{attempt.id}: mean return {number(evaluation.mean_return)}"
        low, high = frame.y(min(evaluation.returns)), frame.y(max(evaluation.returns))
        parts.append(element("line", x1=x, x2=x, y1=low, y2=high, class_="range"))
        parts.append(element("circle", cx=x, cy=frame.y(evaluation.mean_return), r=size, class_=_kind(state)))
    if state.validation and state.validation.outcome == "ok":
        y, half = frame.y(state.validation.mean_return), size + 2
        text += f", validation {number(state.validation.mean_return)}"
        diamond = f"M{x} {y - half}L{x + half} {y}L{x} {y + half}L{x - half} {y}Z"
        parts.append(element("path", d=diamond, class_="validation"))
    return element("a", element("title", text), *parts, href=f"#{attempt.id}", tabindex="-1", aria_label=text)


def _kind(state: CandidateState) -> str:
    if state.attempt.candidate.duplicate_of:
        return "duplicate"
    return "tuned" if state.attempt.candidate.tuned else "written"


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
    charts = []
    ran = [
        (state.spent, state.attempt.evaluation.mean_return)
        for state in run.candidates
        if state.attempt.evaluation.outcome == "ok" and state.attempt.evaluation.episodes
    ]
    for name, of, label in kinds:
        end = max(
            [of(state.spent) for state in run.candidates] + [of(one.spent) for one in run.state.best_so_far],
            default=0.0,
        )
        if not run.state.best_so_far or end <= 0:
            continue
        line = [(of(one.spent), one.mean_return) for one in run.state.best_so_far]
        line.append((end, line[-1][1]))
        dots = [(of(spent), value) for spent, value in ran]
        frame = Frame((0.0, end * 1.02), extent([value for _, value in line + dots]))
        marks = [element("circle", cx=frame.x(x), cy=frame.y(y), r=2.5, class_="written") for x, y in dots]
        charts.append(
            (
                name,
                drawing(
                    frame.y_axis(),
                    frame.x_axis(name, label),
                    *marks,
                    frame.line(line, "best", step=True),
                    height=HEIGHT,
                    label=f"Best mean return against {name}",
                ),
            )
        )
    return charts


def selection_chart(result: Mapping[str, Any]) -> Markup:
    """The chosen candidate's mean return on training and validation seeds, on both, and on test seeds, with intervals."""
    rows = [
        (name, result[name])
        for name in ("train", "validation", "evidence", "test")
        if result.get(name) and result[name]["mean_return"] is not None
    ]
    values = [v for _, row in rows for v in (*row["returns"], *row["ci95"]) if v is not None]
    height = 34.0 * len(rows) + 44
    frame = Frame(extent(values), (0.0, 1.0), left=84.0, bottom=height - 40)
    parts = [frame.x_axis("return (each dot an episode; bar: 95 % interval of the mean)")]
    for n, (name, row) in enumerate(rows):
        y = 22.0 + 34 * n
        parts.append(element("text", name, x=76, y=y + 4, text_anchor="end", class_="title"))
        parts.extend(
            element("circle", cx=frame.x(v), cy=y + _jitter(i), r=2, class_="episode")
            for i, v in enumerate(row["returns"])
            if v is not None
        )
        low, high = row["ci95"]
        if low is not None:
            parts.append(element("line", x1=frame.x(low), x2=frame.x(high), y1=y, y2=y, class_="interval"))
        parts.append(element("circle", cx=frame.x(row["mean_return"]), cy=y, r=5, class_=f"mean {name}"))
    return drawing(
        *parts, height=height, width=WIDTH, label="Return of the best on training, validation and test seeds"
    )


def _jitter(i: int) -> float:
    """Spread dots of equal value a little, the same way every time."""
    return ((i * 7) % 11 - 5) * 1.1
