"""``result.json``, of promptpo or of a baseline, as a typed value with the keys that code reads.

docs/reference/results.md describes all keys; those that are only displayed stay JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from promptpo.core.journal import from_json
from promptpo.files import Json


@dataclass(frozen=True, slots=True)
class RecordedScore:
    """A policy's score on some seeds.

    Attributes:
        mean_return: None if no episode was completed.
        ci95: Its 95 % interval.
        episodes: Number of episodes.
        success_rate: None if the environment reports no success.
        returns: Return of each episode; None for one that is not finite.
        held_out: The score on held-out variants.
    """

    mean_return: float | None = None
    ci95: tuple[float | None, float | None] = (None, None)
    episodes: int = 0
    success_rate: float | None = None
    returns: tuple[float | None, ...] = ()
    held_out: RecordedScore | None = None


@dataclass(frozen=True, slots=True)
class RecordedBest:
    """The policy that a result reports.

    Attributes:
        candidate: Its ID; empty for the agent of a baseline.
        origin: Where its program came from; see docs/reference/results.md.
        tuned: Its tuned parameters.
        steps: Training steps of a baseline's agent; 0 for the untrained one.
    """

    candidate: str = ""
    origin: str = ""
    tuned: Mapping[str, Any] = field(default_factory=dict)
    steps: int | None = None


@dataclass(frozen=True, slots=True)
class RecordedResult:
    """A result; docs/reference/results.md describes its fields. What is null in the file is empty here."""

    env_id: str = ""
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    seed: int | None = None
    best: RecordedBest = RecordedBest()
    evidence: RecordedScore = RecordedScore()
    test: RecordedScore = RecordedScore()
    steps: Mapping[str, int] = field(default_factory=dict)
    searched_steps: int | None = None

    @classmethod
    def read(cls, content: Json) -> RecordedResult:
        """Convert the content of the file.

        Raises:
            ValueError: A key has a value of another type.
        """
        return from_json(cls, {name: value for name, value in content.items() if value is not None})

    @property
    def searched(self) -> int:
        """Steps that count against a budget: all but those on test seeds; older results lack this sum."""
        if self.searched_steps is not None:
            return self.searched_steps
        return self.steps.get("total", 0) - self.steps.get("test", 0)

    @property
    def author(self) -> str:
        """Who wrote the best policy: the model, or the user."""
        if self.best.origin == "user":
            return "its user, tuned" if self.best.tuned else "its user"
        return self.model
