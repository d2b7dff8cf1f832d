"""The rows of a finished suite as normalised scores, by method and task."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promptpo_benchmarks.runner.suite import Suite, load_suite
from promptpo_benchmarks.statistics.anchors import Anchors, anchors_of
from promptpo_benchmarks.statistics.bootstrap import Estimated, interval_over_runs
from promptpo_benchmarks.statistics.rows import SUFFICIENT_SCORE, read_csv

GROUPS = (
    ("classic control, Box2D", 6),
    ("MuJoCo", 6),
    ("Meta-World", 6),
    ("exploration", 4),
    ("real-world control", 4),
    ("text, pictures", 2),
)
"""The tasks of the suite ``proof`` in its order: what kind they are of, and how many of each."""

LLM = "promptpo"
SIMULATOR = "promptpo-simulate"
"""The language model that also writes a simulator: the amendment of 2026-11-29."""
NAMED = ("ppo", "trpo", "sac")
"""The learners that hypothesis 2 named beforehand."""
LEARNERS = (*NAMED, "tqc", "crossq", "dqn", "qrdqn")
"""All learners, against the best of which it is decided anew."""
FLOOR = 0.0


@dataclass(frozen=True, slots=True)
class TaskScore:
    """Score of one method on one task.

    Attributes:
        runs: Normalised score of each run; one that failed has at most 0.
        spread: Their mean with its 95 % interval: over held-out episodes, or from three runs on over runs if that is wider.
        raw: Mean score, not normalised; NaN where no run has any.
        steps: Environment steps of each run until a policy was sufficient on validation seeds; infinite where none was.
        calls: Answers until then, in the same order.
    """

    runs: tuple[float, ...]
    spread: Estimated
    raw: float
    steps: tuple[float, ...]
    calls: tuple[float, ...]

    @property
    def enough(self) -> bool:
        """Whether it is sufficient, in the mean over its runs."""
        return self.spread.value >= SUFFICIENT_SCORE


@dataclass(frozen=True)
class SuiteScores:
    """All that was scored.

    Attributes:
        suite: Which tasks there are, in which order.
        found: (method, task) to its score.
    """

    suite: Suite
    found: Mapping[tuple[str, str], TaskScore]

    @property
    def tasks(self) -> tuple[str, ...]:
        """Labels of all tasks."""
        return tuple(task.label for task in self.suite.tasks)

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """Kind of task to those of this kind."""
        found, begin = {}, 0
        for name, count in GROUPS:
            found[name] = self.tasks[begin : begin + count]
            begin += count
        return found

    def runs_of(self, method: str, tasks: Sequence[str] | None = None) -> dict[str, tuple[float, ...]]:
        """Normalised runs of a method by task, where it has any."""
        return {
            task: self.found[method, task].runs
            for task in (self.tasks if tasks is None else tasks)
            if (method, task) in self.found
        }

    def latest(self, task: str) -> TaskScore | None:
        """The language model's score on a task: with a simulator where it was run, else without."""
        return self.found.get((SIMULATOR, task), self.found.get((LLM, task)))

    def learner(self, task: str, among: Sequence[str] = LEARNERS) -> tuple[str, TaskScore] | None:
        """The reinforcement learner that did best on a task."""
        known = [(name, self.found[name, task]) for name in among if (name, task) in self.found]
        return max(known, key=lambda pair: pair[1].spread.value) if known else None

    def unlearned(self, among: Sequence[str] = LEARNERS) -> set[str]:
        """Tasks on which a learner that the suite has for them is still to be run."""
        return {
            task.label
            for task in self.suite.tasks
            if any(self.suite.has(task, name) and (name, task.label) not in self.found for name in among)
        }


def read_scores(folders: Sequence[Path], suite: str) -> SuiteScores:
    """The scores of a benchmark, published in one folder or, where it was run in parts, in several.

    Args:
        folders: Where ``results.csv`` lies; a run that stands in several counts as the last of them has it.
        suite: Name of the suite, or its file.

    Raises:
        UsageError: There is no such suite.
        FileNotFoundError: There is no ``results.csv`` in one.
    """
    loaded = load_suite(suite)
    anchors = anchors_of({task.label: loaded.score_of(task) for task in loaded.tasks})
    runs = {
        tuple(row[name] for name in ("task", "method", "model", "seed")): row
        for folder in folders
        for row in read_csv(folder)
    }
    grouped: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in runs.values():
        grouped.setdefault((row["method"], row["task"]), []).append(row)
    found = {key: _scored(rows, anchors[key[1]]) for key, rows in grouped.items() if key[1] in anchors}
    return SuiteScores(loaded, found)


def _scored(rows: Sequence[Mapping[str, Any]], anchors: Anchors) -> TaskScore:
    runs = tuple(_normalised(row, row["score"], anchors) for row in rows)
    spread = interval_over_runs(runs, [tuple(_normalised(row, row[end], anchors) for end in ("score_low", "score_high")) for row in rows])
    raw = [row["score"] for row in rows if row["score"] is not None]
    return TaskScore(
        runs,
        spread,
        math.fsum(raw) / len(raw) if raw else math.nan,
        tuple(math.inf if row["steps_to_95"] is None else row["steps_to_95"] for row in rows),
        tuple(math.inf if row["calls_to_95"] is None else row["calls_to_95"] for row in rows),
    )


def _normalised(row: Mapping[str, Any], score: float | None, anchors: Anchors) -> float:
    if score is None:
        return FLOOR
    value = anchors.normalize(score)
    return min(value, FLOOR) if row["failure"] else value
