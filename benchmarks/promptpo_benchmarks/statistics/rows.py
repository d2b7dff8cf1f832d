"""Finished cells as rows: their scores and costs."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promptpo.errors import RunError
from promptpo.output.recorded_result import RecordedResult
from promptpo.output.report import write_atomically
from promptpo.run.state import read_state
from promptpo_benchmarks.runner.cells import Cell
from promptpo_benchmarks.runner.suite import Score, Suite
from promptpo_benchmarks.statistics.anchors import Anchors
from promptpo_benchmarks.statistics.bootstrap import mean_interval

CSV = "results.csv"

COLUMNS = (
    "task", "method", "model", "seed", "score_kind", "score", "score_low", "score_high", "mean_return", "success_rate", "test_episodes",
    "failure", "steps_searched", "steps_test", "calls", "input_tokens", "output_tokens", "usd", "wall_seconds",
    "steps_to_95", "calls_to_95", "seconds_to_95", "stop_reason", "directory",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a learning curve.

    Attributes:
        steps: All environment steps spent by then.
        seconds: Wall time by then; NaN if it was not recorded.
        usd: Money by then.
        value: Mean return of the best so far on validation seeds; for ICPI, which has no validation, in ten training
            episodes.
        calls: Language-model answers by then.
        success: Success rate of the same episodes; None if the environment does not report success.
    """

    steps: int
    seconds: float
    usd: float
    value: float
    calls: int = 0
    success: float | None = None


@dataclass(frozen=True, slots=True)
class FinishedCell:
    """One finished cell.

    Attributes:
        cell: The cell.
        kind: Kind of `values`: returns or successes of the held-out episodes.
        values: One number per held-out episode, failed ones with the worst of the others; empty if none finished.
        content: Its ``result.json``.
        curve: Its learning curve; empty for methods that do not learn.
        outcomes: Number of candidates by outcome; empty for methods without candidates.
        acting: Cost of a held-out episode: "calls", "seconds", "cost_usd" (None: unknown); None if not recorded.
    """

    cell: Cell
    kind: Score
    values: tuple[float, ...]
    content: Mapping[str, Any]
    curve: tuple[Point, ...]
    outcomes: Mapping[str, int]
    acting: Mapping[str, float | None] | None = None

    @property
    def failure(self) -> str:
        """Why the run counts as a failure, in words: no policy, or one that failed in the final test; empty if it does not."""
        test = self.content.get("test")
        if not test:
            return "no policy ran"
        failed = _count_failed_episodes(test)
        if not failed and self.values:
            return ""
        said = str(test.get("failure") or test["outcome"])
        return f"{failed} held-out episodes failed: {said}" if failed else f"no score ({said})"

    @property
    def score(self) -> float:
        """Mean of `values`; NaN if there are none."""
        return math.fsum(self.values) / len(self.values) if self.values else math.nan

    @property
    def searched(self) -> int:
        """Environment steps of everything but the final test; 0 for methods that do not learn."""
        if not self.cell.method.learns:
            return 0
        return RecordedResult.read(self.content).searched

    @property
    def llm(self) -> Mapping[str, Any]:
        """The language model that was queried; empty if none was (program search counts as one)."""
        return self.content.get("llm") or {} if self.content.get("language_model") else {}

    @property
    def usd(self) -> float:
        """Money spent, as far as prices are known."""
        return float(self.llm.get("cost_usd", 0.0))


SUFFICIENT_SCORE = 0.95
"""Normalised score from which a policy is sufficient."""


def first_sufficient(row: FinishedCell, anchors: Anchors) -> Point | None:
    """Return the first point of a run's learning curve that is sufficient, on validation seeds; None if none is."""
    for point in row.curve:
        score = point.value if row.kind == "return" else point.success
        if score is not None and anchors.normalize(score) >= SUFFICIENT_SCORE:
            return point
    return None


def read_rows(suite: Suite, cells: Sequence[Cell]) -> list[FinishedCell]:
    """Read the rows of all finished cells."""
    return [_row(suite, cell, content) for cell in cells if (content := cell.result) is not None]


def _row(suite: Suite, cell: Cell, content: Mapping[str, Any]) -> FinishedCell:
    kind = suite.score_of(cell.task)
    values = _values(content.get("test"), kind)
    if cell.method.kind != "optimize":
        return FinishedCell(cell, kind, values, content, _read_curve(content), {}, content.get("per_episode"))
    return FinishedCell(cell, kind, values, content, *_from_journal(cell))


def _values(test: Mapping[str, Any] | None, kind: Score) -> tuple[float, ...]:
    """Return held-out returns; or ones and zeros that make up the success rate, in any order."""
    if not test:
        return ()
    if kind == "success":
        if test["success_rate"] is None:
            return (0.0,) * _count_failed_episodes(test)  # a failed episode did not succeed
        episodes = int(test["episodes"])
        successes = round(float(test["success_rate"]) * episodes)
        return (1.0,) * successes + (0.0,) * (episodes - successes)
    finished = [float(value) for value in test["returns"] if value is not None]
    mean = test["mean_return"]
    if not finished or mean is None:
        return ()
    if not math.isclose(math.fsum(finished) / len(finished), mean, rel_tol=1e-9, abs_tol=1e-9):
        finished += [min(finished)] * _count_failed_episodes(test)  # the mean counts them, the list does not
    return tuple(finished)


def _count_failed_episodes(test: Mapping[str, Any]) -> int:
    """Count held-out episodes in which the policy failed; older results only say that there was one."""
    return int(test.get("failed_episodes", test["outcome"] != "ok"))


def _from_journal(
    cell: Cell,
) -> tuple[tuple[Point, ...], Mapping[str, int], Mapping[str, float | None] | None]:
    """Return learning curve, outcomes of the candidates, and the cost of an episode of the tested program."""
    try:
        state = read_state(cell.directory)
    except RunError:
        return (), {}, None
    acting: Mapping[str, float | None] | None = None
    if state.test is not None and state.test.episodes:
        acting = {
            "calls": 0,
            "seconds": state.test.policy_seconds / len(state.test.episodes),
            "cost_usd": 0.0,
        }
    curve = tuple(
        Point(s.steps, s.seconds, s.usd, score.mean_return, s.calls, score.success_rate)
        for s, score in state.best_so_far
    )
    outcomes: Counter[str] = Counter(candidate.attempt.evaluation.outcome for candidate in state.candidates)
    return curve, outcomes, acting


def _read_curve(content: Mapping[str, Any]) -> tuple[Point, ...]:
    """Read the learning curve that a baseline wrote into its result: the best so far, by success rate and then by mean return."""
    tuned, best, points = content["steps"].get("tune", 0), (-1.0, -math.inf), list[Point]()
    for entry in content.get("curve") or ():
        value, success = entry["mean_return"], entry.get("success_rate")
        if value is not None and (success or 0.0, value) > best:
            best = (success or 0.0, value)
            steps = tuned + entry["steps"] + entry.get("validation_steps", 0)
            points.append(Point(steps, entry.get("wall_seconds", math.nan), 0.0, value, success=success))
    return tuple(points)


def write_csv(path: Path, rows: Sequence[FinishedCell], anchors: Mapping[str, Anchors]) -> None:
    """Write one line for each finished cell; `anchors` determine when one was sufficient."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(_flat(row, path.parent, anchors.get(row.cell.task.label)))
    write_atomically(path, text.getvalue())


def _flat(row: FinishedCell, root: Path, anchors: Anchors | None) -> dict[str, Any]:
    content, cell = row.content, row.cell
    test, llm = content.get("test") or {}, row.llm
    spread = mean_interval([row.values]) if row.values else None
    enough = first_sufficient(row, anchors) if anchors is not None else None
    return {
        "task": cell.task.label,
        "method": cell.method.name,
        "model": cell.model or "",
        "seed": cell.seed,
        "score_kind": row.kind,
        "score": "" if math.isnan(row.score) else f"{row.score:.6g}",
        "score_low": "" if spread is None else f"{spread.low:.6g}",
        "score_high": "" if spread is None else f"{spread.high:.6g}",
        "mean_return": test.get("mean_return", ""),
        "success_rate": test.get("success_rate", ""),
        "test_episodes": test.get("episodes", 0),
        "failure": row.failure,
        "steps_searched": row.searched,
        "steps_test": content["steps"].get("test", 0),
        "calls": llm.get("calls", 0),
        "input_tokens": llm.get("input_tokens", 0),
        "output_tokens": llm.get("output_tokens", 0),
        "usd": row.usd,
        "wall_seconds": content.get("wall_seconds", ""),
        "steps_to_95": "" if enough is None else enough.steps,
        "calls_to_95": "" if enough is None else enough.calls,
        "seconds_to_95": "" if enough is None or math.isnan(enough.seconds) else round(enough.seconds, 1),
        "stop_reason": content.get("stop_reason", ""),
        "directory": cell.directory.relative_to(root).as_posix(),
    }


def read_csv(root: Path) -> list[dict[str, Any]]:
    """Read the rows of the CSV file, with numbers as numbers and None for empty fields."""
    with (root / CSV).open(encoding="utf-8", newline="") as file:
        return [{name: _value(text) for name, text in row.items()} for row in csv.DictReader(file)]


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return value if math.isfinite(value) else None
    return text or None
