"""Anchors of normalisation: a low and a high score for each task with their sources, as data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from promptpo.errors import UsageError
from promptpo_benchmarks.runner.suite import Score

TABLE = Path(__file__).with_name("anchors.toml")


@dataclass(frozen=True, slots=True)
class Anchors:
    """The scores that are normalised to 0 and 1 on a task.

    Attributes:
        low: Score of uniformly random actions, unless `low_source` says otherwise.
        high: An optimum, a score at which the task counts as solved, or the best published one.
        low_source: Source of `low`.
        high_source: Source of `high`.
    """

    low: float
    high: float
    low_source: str
    high_source: str

    def normalize(self, score: float) -> float:
        """Normalise a score so that `low` becomes 0 and `high` 1; results may lie outside."""
        return (score - self.low) / (self.high - self.low)


SUCCESS = Anchors(0.0, 1.0, "no episode succeeds", "every episode succeeds")
"""Anchors of tasks scored by the share of successful episodes."""


def anchors_of(kinds: Mapping[str, Score]) -> dict[str, Anchors]:
    """Return the anchors of those tasks that have any.

    Args:
        kinds: Score of each task, by label.
    """
    known = load_anchors()
    found = {task: SUCCESS if kind == "success" else known.get(task) for task, kind in kinds.items()}
    return {task: pair for task, pair in found.items() if pair is not None}


@lru_cache
def load_anchors(path: Path = TABLE) -> Mapping[str, Anchors]:
    """Load the anchors of returns by task label.

    Raises:
        UsageError: The file is damaged.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        anchors = TypeAdapter(dict[str, Anchors]).validate_python(content)
    except (OSError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise UsageError(f"{path} is not a table of anchors: {str(error).splitlines()[0]}.") from error
    for task, pair in anchors.items():
        if not pair.high > pair.low:
            raise UsageError(f"{path}: the high anchor of {task} has to be above the low one.")
    return anchors
