"""Normalisation anchors: for each task a low and a high score with their sources, as data."""

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
    """The returns that count as 0 and 1 on a task.

    Attributes:
        low: Score of uniformly random actions, unless `low_source` says otherwise.
        high: An optimum, a score at which the task counts as solved, or the best published one.
        low_source: Where `low` comes from.
        high_source: Where `high` comes from.
    """

    low: float
    high: float
    low_source: str
    high_source: str

    def normalize(self, score: float) -> float:
        """0 at `low`, 1 at `high`; may be beyond both."""
        return (score - self.low) / (self.high - self.low)


SUCCESS = Anchors(0.0, 1.0, "no episode succeeds", "every episode succeeds")
"""For tasks on which the share of successful episodes counts."""


def anchors_of(kinds: Mapping[str, Score]) -> dict[str, Anchors]:
    """The anchors of those tasks that have any.

    Args:
        kinds: Task label to what counts on it.
    """
    known = load_anchors()
    found = {task: SUCCESS if kind == "success" else known.get(task) for task, kind in kinds.items()}
    return {task: pair for task, pair in found.items() if pair is not None}


@lru_cache
def load_anchors(path: Path = TABLE) -> Mapping[str, Anchors]:
    """Task label to the anchors of its return.

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
