"""The search context, the interfaces of its components, and the hooks that features implement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from promptpo.core.candidate import Attempt, Candidate, CandidateId, Diagnosis, Seeds
from promptpo.core.config import Config, SettingsGroup, groups_of
from promptpo.core.journal import Journal, T
from promptpo.settings import RunSetting, settings_of

if TYPE_CHECKING:
    from promptpo.core.history import History
    from promptpo.core.work import RecordedWork
    from promptpo.llm.base import LLM, Completion, Message
    from promptpo.program.answers import Answer
    from promptpo.rollouts.evaluation import Evaluation
    from promptpo.spec import TaskSpec
    from promptpo_sandbox import Rollout


RequestKind = Literal["first", "improve", "merge", "worst_initial_states", "new_structure"]


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan for one sample of a round.

    Attributes:
        slot: Position in the round, counted from 0.
        kind: A "first" policy; one that should "improve" on its first parent; one that does better on the "worst_initial_states"
            of its parent; the "merge" of two that are about as good; or a "new_structure".
        parents: The attempts to build on, best first.
        variant: Number of this request among those of its kind in the round, from 1.
        winners: Best candidate of each round, oldest first, shown by the published procedure's prompt; None for other prompts.
    """

    round: int
    slot: int
    kind: RequestKind
    parents: tuple[Attempt, ...] = ()
    variant: int = 1
    winners: tuple[Attempt, ...] | None = None

    @property
    def id(self) -> str:
        """Id of the resulting candidate."""
        return str(CandidateId(self.round, self.slot + 1))

    @property
    def may_end(self) -> bool:
        """Whether the model may say that the task is at its ceiling."""
        return bool(self.parents) and self.winners is None


@dataclass(frozen=True, slots=True)
class RunStatus:
    """Status of a run when a round begins; limits are None if there are none.

    Attributes:
        rounds: Maximum number of rounds.
        candidates: Number of requests in the round.
        starts: Number of training episodes, the same seeds for all candidates.
        steps: Limit on environment steps.
        tunes: Whether this run tunes ``PARAMS`` at all.
        tuning_steps: Approximate steps planned for tuning this round's candidates.
        length: Approximate steps per episode.
        threshold: Mean return at which the task counts as solved; None without one, or if the spec states it.
    """

    round: int
    rounds: int
    candidates: int = 1
    starts: int = 1
    steps: int | None = None
    steps_left: int | None = None
    calls_left: int | None = None
    tunes: bool = False
    tuning_steps: int = 0
    length: float = 0.0
    threshold: float | None = None

    @property
    def number_of_episodes(self) -> int:
        """Number of whole episodes that the planned tuning steps pay for."""
        return int(self.tuning_steps / self.length) if self.length else 0


class EpisodeNarrator:
    """Describes in words what happened in episodes; the base class says nothing."""

    legend = ""
    """Explains the labels in its descriptions; empty if there is nothing to explain."""

    async def prepare(self) -> None:
        """Prepare before the first round."""

    def sum_up(self, evaluation: Evaluation) -> str:
        """Summarise an evaluation in one or two sentences."""
        return ""

    async def summarise(self, rollout: Rollout, evaluation: Evaluation) -> tuple[str, Diagnosis]:
        """Describe some episodes: as one text, and one by one."""
        return "", Diagnosis()


class RequestWriter:
    """Writes the requests to a language model; the base class writes none, as program search needs none."""

    system = ""
    """System prompt of every request."""

    def begin(self, history: History, status: RunStatus) -> None:
        """Begin a round: settle what all its requests say about the run's status."""

    def question(self, plan: Plan, features: Sequence[Feature]) -> list[Message]:
        """Return the request for one sample, including the sections of features."""
        return []

    def ceiling(self, plan: Plan, answer: Answer) -> str:
        """Return why an answer without code sees no way to improve; empty if it does not say so or may not."""
        return ""

    def ask_again(self, completion: Completion, answer: Answer) -> list[Message]:
        """Return the messages that ask again after an answer without a policy."""
        return []

    def repair(self, attempt: Attempt) -> list[Message]:
        """Return the request to fix a program that failed."""
        return []

    async def reflect(self, history: History) -> str:
        """Ask for conclusions from a round; empty if reflection is off."""
        return ""


@dataclass(frozen=True, slots=True)
class SearchContext:
    """Context of a search, known before it begins.

    Attributes:
        spec: The task as described to the model, and its spaces.
        work: Calls the model and runs rollouts; resumes the run if its journal already has events.
        horizon: Maximum episode length, in steps.
        narrator: Describes training episodes in words.
        writer: Writes the requests.
        written: Origin and description of each initial policy not supplied by the user; these come last in `Config.start`.
    """

    spec: TaskSpec
    config: Config
    work: RecordedWork
    horizon: int
    narrator: EpisodeNarrator = field(default_factory=EpisodeNarrator)
    writer: RequestWriter = field(default_factory=RequestWriter)
    written: Sequence[tuple[str, str]] = ()

    @property
    def journal(self) -> Journal:
        """Journal of the run."""
        return self.work.journal

    @property
    def seeds(self) -> Seeds:
        """Seeds of the run."""
        return Seeds(self.config.seed)

    @property
    def learns(self) -> bool:
        """Whether a language model learns from the rounds."""
        return self.work.llm.capabilities.language_model

    @property
    def threshold(self) -> float | None:
        """Mean return at which the search may end; None if there is none."""
        return self.config.stop_at if self.config.stop_at is not None else self.spec.reward_threshold


PlanRound: TypeAlias = "Callable[[SearchContext, History, int], list[Plan]]"
"""Plans the requests of the next round; a recipe supplies it. The number is how many to plan."""


# ruff: noqa: ARG002 - hooks take arguments for the features that override them


class FeatureSettings(SettingsGroup):
    """Settings of a feature, and its requirements on a run."""

    def is_on(self, config: Config, llm: LLM) -> bool:
        """Whether the feature takes part in this run."""
        return False

    def check(self, config: Config, llm: LLM) -> None:
        """Refuse settings that this model does not support, before any request, by a UsageError that says what to do."""

    def check_new(self, config: Config) -> None:
        """Refuse settings that do not fit the task, before a run is created, by a UsageError that names them."""

    @property
    def rewards(self) -> bool:
        """Whether the model writes the task's reward."""
        return False

    @property
    def trust_notice(self) -> str:
        """What continuing a run does with the files it names, as a notice; empty if nothing."""
        return ""

    def result(self, context: SearchContext, findings: Mapping[str, Any], *, ran: bool) -> Mapping[str, Any]:
        """Return the feature's entries in ``result.json``, by key, from the findings of `Feature.inspect`."""
        return {}


def settings_of_features(config: Config) -> list[FeatureSettings]:
    """Return the settings of all features, in the order in which features run."""
    return [config.of(kind) for kind in groups_of(FeatureSettings)]


def run_settings() -> Iterator[RunSetting]:
    """Yield all settings of a run, those of features last."""
    return chain.from_iterable(map(settings_of, (Config, *groups_of(FeatureSettings))))


def writes_reward(config: Config) -> bool:
    """Whether the model writes the task's reward before it writes policies."""
    return any(settings.rewards for settings in settings_of_features(config))


class Feature:
    """A feature of a run; each method is a hook of the loop and does nothing by default."""

    async def start(self) -> None:
        """Prepare before the first request."""

    async def before_round(self, number: int, history: History) -> None:
        """Act before a round is planned; number 0 is before the initial policies are evaluated.

        Features run in sequence, so that each sees the budget left by the previous one; BudgetSpentError ends the search.
        """

    def section(self, plan: Plan, status: RunStatus) -> str:
        """Return a section for a request: what its answer may contain besides a policy."""
        return ""

    def persistent_sections(self, number: int) -> Mapping[str, Callable[[int], str]]:
        """Return sections of all requests of a round, by name: functions from a size limit in characters to the text."""
        return {}

    def estimate_tuning_steps(self, history: History, own: int) -> int:
        """Return the approximate steps for improving the next round's candidates, whose training takes `own` steps."""
        return 0

    def remarks(self) -> Mapping[str, str]:
        """Return remarks on candidates for later requests, by id: sentences without a full stop."""
        return {}

    async def prepare(self, candidate: Candidate) -> Candidate:
        """Return the candidate to evaluate in place of a round's candidate."""
        return candidate

    async def improve(self, history: History, attempts: Sequence[Attempt]) -> list[Attempt]:
        """Record and return better versions of a round's candidates; not called if one meets the threshold as written."""
        return []

    def summarize_round(self, history: History) -> Mapping[str, Any]:
        """Return facts for the round's event in the journal, besides its samples."""
        return {}

    async def spend_rest(self, history: History) -> str:
        """Improve the best of the run with the steps left over; return why some are still left, if known."""
        return ""

    async def conclude(self, history: History, *, stopped: bool) -> None:
        """Record final candidates when the search is over, even if it ended early.

        If the run was `stopped` from outside, somebody waits: whatever the result can do without is left to a resumed run.
        """

    def record_products(self, history: History) -> Mapping[str, Attempt]:
        """Record policies that the run delivers besides the best, one of which may lead; return them by name."""
        return {}

    async def test_beside(self, seeds: Sequence[int], test: Evaluation) -> Mapping[str, Evaluation]:
        """Evaluate policies for comparison on the best candidate's test seeds; return evaluations by name."""
        return {}

    async def inspect(self, best: Attempt) -> Mapping[str, Any]:
        """Return findings about the best of the run, by their names in the result."""
        return {}


def merge(said: Iterable[Mapping[str, T]]) -> dict[str, T]:
    """Merge mappings from several features; later ones win."""
    return {name: value for each in said for name, value in each.items()}
