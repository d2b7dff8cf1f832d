"""The context of a search, and the hooks of its loop that features implement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from promptpo.core.candidate import Seeds

if TYPE_CHECKING:
    from promptpo.core.request import Plan, RunStatus

    from promptpo.core.candidate import Attempt, Candidate
    from promptpo.core.config import Config
    from promptpo.core.history import History
    from promptpo.core.journal import Journal
    from promptpo.core.work import RecordedWork
    from promptpo.llm.base import Still
    from promptpo.spec import TaskSpec
    from promptpo_sandbox import Episode, Rollout


Camera: TypeAlias = Callable[["Episode"], tuple[bytes, tuple[int, ...]]]
"""Makes a strip of a recorded episode, as a PNG file, and tells its steps; raises `RenderingError`."""


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
    spender: RecordedWork
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


@dataclass(frozen=True, slots=True)
class PromptSection:
    """What a feature adds to the request for a policy.

    Attributes:
        experiment: What an experiment may take, in words, where the answer may bring one.
        note: A sentence at the end of the prompt.
        stills: Pictures that are shown with it.
    """

    experiment: str = ""
    note: str = ""
    stills: tuple[Still, ...] = ()


# ruff: noqa: ARG002 - a seam has arguments for whoever hangs on it


class Feature:
    """A feature of a run; each method is a seam of the loop, and does nothing here."""

    async def before_round(self, number: int, history: History) -> None:
        """Before a round is planned; number 0 is before the user's own candidates are measured.

        Raises:
            BudgetSpentError: No environment steps are left, which ends the search.
        """

    async def prepare(self, candidate: Candidate) -> Candidate:
        """Return what is measured in the place of a candidate of a round."""
        return candidate

    async def after_candidates(self, history: History, attempts: Sequence[Attempt]) -> None:
        """Record further candidates, once those of a round are measured."""

    def section(self, plan: Plan, where: RunStatus) -> PromptSection | None:
        """Return what is added to a request."""
        return None

    def conclude(self, history: History) -> Mapping[str, Attempt]:
        """Record what joins the candidates when the search is over, and name products that are tested beside the best."""
        return {}

    def watch(self, name: str, source: str, rollout: Rollout | None) -> None:
        """See a training rollout under its name in the journal; None where only its result is known."""


class Hooks(Feature):
    """The features of a run, as one; they have their turn in the order in which they were hung up."""

    def __init__(self) -> None:
        self._features: list[Feature] = []

    def register(self, feature: Feature) -> None:
        """One more."""
        self._features.append(feature)

    async def before_round(self, number: int, history: History) -> None:
        """One after the other, so that each finds the budget that the one before has left."""
        for feature in self._features:
            await feature.before_round(number, history)

    async def prepare(self, candidate: Candidate) -> Candidate:
        """One after the other."""
        for feature in self._features:
            candidate = await feature.prepare(candidate)
        return candidate

    async def after_candidates(self, history: History, attempts: Sequence[Attempt]) -> None:
        """Each of them."""
        for feature in self._features:
            await feature.after_candidates(history, attempts)

    def section(self, plan: Plan, where: RunStatus) -> PromptSection:
        """Join the sections of all features."""
        found = [
            section for section in (feature.section(plan, where) for feature in self._features) if section
        ]
        return PromptSection(
            "".join(section.experiment for section in found),
            " ".join(section.note for section in found if section.note),
            tuple(still for section in found for still in section.stills),
        )

    def conclude(self, history: History) -> Mapping[str, Attempt]:
        """Products of all of them."""
        return {
            name: result for feature in self._features for name, result in feature.conclude(history).items()
        }

    def watch(self, name: str, source: str, rollout: Rollout | None) -> None:
        """Each of them."""
        for feature in self._features:
            feature.watch(name, source, rollout)
