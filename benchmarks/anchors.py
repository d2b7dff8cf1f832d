"""Normalisation anchors: for each task a low and a high score with their sources, as data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from promptpo.errors import UsageError

TABLE = Path(__file__).with_name("anchors.toml")


@dataclass(frozen=True, slots=True)
class Anchors:
    """What 0 and 1 mean on a task.

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

    def normalised(self, score: float) -> float:
        """0 at `low`, 1 at `high`; may be beyond both."""
        return (score - self.low) / (self.high - self.low)


@lru_cache
def known_anchors(path: Path = TABLE) -> Mapping[str, Anchors]:
    """Task label to its anchors.

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
