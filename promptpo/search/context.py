"""What a search knows before it begins: one value that is handed on whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptpo.run.records import Seeds

if TYPE_CHECKING:
    from promptpo.run.config import Config
    from promptpo.run.journal import Journal
    from promptpo.run.spender import Spender
    from promptpo.search.filming import Camera
    from promptpo.spec import TaskSpec


@dataclass(frozen=True, slots=True)
class SearchContext:
    """What a search knows before it begins.

    Attributes:
        spec: What the model is told, and the spaces.
        config: What decides the run.
        spender: Asks the model and rolls out; one whose journal has events in it resumes their run.
        horizon: Longest episode, in steps.
        camera: Makes film strips of episodes, for models that see; None where nobody can.
    """

    spec: TaskSpec
    config: Config
    spender: Spender
    horizon: int
    camera: Camera | None = None

    @property
    def journal(self) -> Journal:
        """Of the run."""
        return self.spender.journal

    @property
    def seeds(self) -> Seeds:
        """Of the run."""
        return Seeds(self.config.seed)

    @property
    def learns(self) -> bool:
        """Whether a language model learns from the rounds."""
        return self.spender.llm.language_model

    @property
    def threshold(self) -> float | None:
        """Mean return at which the search may end; None where none is known."""
        return self.config.stop_at if self.config.stop_at is not None else self.spec.reward_threshold
