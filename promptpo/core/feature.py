"""The context of a search, the protocols of its parts, and the seams where features hang."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from promptpo.core.candidate import Attempt, CandidateId, Diagnosis, Seeds
from promptpo.core.config import Config, SettingsGroup, groups_of
from promptpo.core.journal import T
from promptpo.settings import RunSetting, settings_of

if TYPE_CHECKING:
    from promptpo.core.candidate import Candidate
    from promptpo.core.history import History
    from promptpo.core.journal import Journal
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
        round: Counted from 1.
        slot: From 0.
        kind: A "first" policy; one that should "improve" on its first parent; one that does better on the "worst_initial_states"
            of its parent; the "merge" of two that are about as good; or a "new_structure".
        parents: The attempts to build on, best first.
        variant: Which request of its kind in the round, from 1.
        winners: The best of each round, oldest first, which the published procedure's prompt shows; None for other prompts.
    """

    round: int
    slot: int
    kind: RequestKind
    parents: tuple[Attempt, ...] = ()
    variant: int = 1
    winners: tuple[Attempt, ...] | None = None

    @property
    def id(self) -> str:
        """Of the candidate that comes of it."""
        return str(CandidateId(self.round, self.slot + 1))

    @property
    def may_end(self) -> bool:
        """Whether the model may say that the task is at its ceiling."""
        return bool(self.parents) and self.winners is None


@dataclass(frozen=True, slots=True)
class RunStatus:
    """Where a run is when a round begins.

    Attributes:
        round: Counted from 1.
        rounds: At most so many.
        candidates: Requests of the round.
        starts: Training episodes, the same for all candidates.
        steps: Limit on environment steps; None without one.
        steps_left: Of them.
        calls_left: Model calls; None without a limit.
        tunes: Whether numbers in ``PARAMS`` are tuned in this run at all.
        tuning_steps: About so many steps are planned for tuning this round's numbers.
        length: Steps of an episode, about.
        threshold: Mean return at which the task counts as solved; None without one.
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
        """Whole episodes for which the planned steps are enough."""
        return int(self.tuning_steps / self.length) if self.length else 0


class EpisodeNarrator:
    """Says in words what happened in episodes; this one says nothing.

    Attributes:
        legend: What its labels mean; empty where nothing is to be explained.
    """

    legend = ""

    async def prepare(self) -> None:
        """Do what comes before the first round."""

    def sum_up(self, evaluation: Evaluation) -> str:
        """An evaluation in one or two sentences."""
        return ""

    async def summarise(self, rollout: Rollout, evaluation: Evaluation) -> tuple[str, Diagnosis]:
        """Describe what happened in some episodes: as one text, and episode by episode."""
        return "", Diagnosis()


class RequestWriter:
    """Writes the requests to a language model; this one writes none, as for program search.

    Attributes:
        system: What stands before every request.
    """

    system = ""

    def begin(self, history: History, where: RunStatus) -> None:
        """Begin a round: settle what all its requests say of where the run is."""

    def question(self, plan: Plan, features: Sequence[Feature]) -> list[Message]:
        """The request for one sample, with what features add to it."""
        return []

    def ceiling(self, plan: Plan, answer: Answer) -> str:
        """Why an answer without code sees no way to do better, where it may say so; else nothing."""
        return ""

    def ask_again(self, completion: Completion, answer: Answer) -> list[Message]:
        """Return the messages that follow a request whose answer has no policy in it."""
        return []

    def repair(self, attempt: Attempt) -> list[Message]:
        """The request to correct a program that failed."""
        return []

    async def reflect(self, history: History) -> str:
        """Ask what to conclude from a round; empty where nobody is asked."""
        return ""


@dataclass(frozen=True, slots=True)
class SearchContext:
    """Context of a search, known before it begins.

    Attributes:
        spec: What the model is told, and the spaces.
        config: What decides the run.
        work: Asks the model and rolls out; one whose journal has events in it resumes their run.
        horizon: Longest episode, in steps.
        narrator: Says in words what happened in training episodes.
        writer: Writes the requests.
        written: Origin and idea of each initial policy that the user did not give; they are the last ones.
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
        """Of the run."""
        return self.work.journal

    @property
    def seeds(self) -> Seeds:
        """Of the run."""
        return Seeds(self.config.seed)

    @property
    def learns(self) -> bool:
        """Whether a language model learns from the rounds."""
        return self.work.llm.capabilities.language_model

    @property
    def threshold(self) -> float | None:
        """Mean return at which the search may end; None where none is known."""
        return self.config.stop_at if self.config.stop_at is not None else self.spec.reward_threshold


PlanRound: TypeAlias = "Callable[[SearchContext, History, int], list[Plan]]"
"""Plans the requests of the next round, as many as the number says: what a recipe is."""


# ruff: noqa: ARG002 - a seam has arguments for whoever hangs on it


class FeatureSettings(SettingsGroup):
    """Settings of a feature, and what they ask of a run."""

    def is_on(self, config: Config, llm: LLM) -> bool:
        """Whether a run has the feature in its loop."""
        return False

    def check(self, config: Config, llm: LLM) -> None:
        """Refuse what cannot be done with this model, before anything is asked.

        Raises:
            UsageError: The sentence says what to do.
        """

    def check_new(self, config: Config) -> None:
        """Refuse what does not fit the task, before a new run is made.

        Raises:
            UsageError: The sentence names what does not fit.
        """

    @property
    def rewards(self) -> bool:
        """Whether the model writes what the task rewards."""
        return False

    @property
    def trust_notice(self) -> str:
        """Say what continuing a run does with files that it names; empty if nothing."""
        return ""

    def result(self, context: SearchContext, findings: Mapping[str, Any], *, ran: bool) -> Mapping[str, Any]:
        """Return what ``result.json`` has of the feature, by key.

        Args:
            context: Of the run.
            findings: About its best, by name; see `Feature.inspect`.
            ran: Whether any policy ran.
        """
        return {}


def settings_of_features(config: Config) -> list[FeatureSettings]:
    """The settings of all features, in the order in which they have their turn."""
    return [config.of(kind) for kind in groups_of(FeatureSettings)]


def run_settings() -> Iterator[RunSetting]:
    """All settings of a run, those of features last."""
    return chain.from_iterable(map(settings_of, (Config, *groups_of(FeatureSettings))))


def writes_reward(config: Config) -> bool:
    """Whether the model writes what the task rewards, before it writes policies."""
    return any(settings.rewards for settings in settings_of_features(config))


def has_own_spec(config: Config) -> bool:
    """Whether somebody has said, or will say, in words of their own what the task is."""
    return config.spec_file is not None or config.task.reward is not None or writes_reward(config)


class Feature:
    """A feature of a run; each method is a seam of the loop, and does nothing here.

    Attributes:
        tunes_freely: Whether it tunes numbers of later programs on steps that cost nothing.
    """

    tunes_freely = False

    async def start(self) -> None:
        """Before anything is asked."""

    async def before_round(self, number: int, history: History) -> None:
        """Before a round is planned; number 0 is before the user's own candidates are measured.

        Features have their turn one after the other, so that each finds the budget that the one before has left.

        Raises:
            BudgetSpentError: No environment steps are left, which ends the search.
        """

    def section(self, plan: Plan, where: RunStatus) -> str:
        """Return what is added to a request: what its answer may bring beside a policy."""
        return ""

    def persistent_sections(self, number: int) -> Mapping[str, Callable[[int], str]]:
        """Return what all requests of a round tell, by name: from how many characters there are to a text."""
        return {}

    def estimate_tuning_steps(self, history: History, own: int) -> int:
        """Return about how many steps improving the next round's candidates takes, once their training has taken its `own`."""
        return 0

    def remarks(self) -> Mapping[str, str]:
        """Return what requests say of candidates, by id: a sentence without a full stop."""
        return {}

    async def prepare(self, candidate: Candidate) -> Candidate:
        """Return what is measured in the place of a candidate of a round."""
        return candidate

    async def improve(self, history: History, attempts: Sequence[Attempt]) -> list[Attempt]:
        """Record better versions of a round's candidates, which are returned; not called where one holds the threshold as written."""
        return []

    def summarize_round(self, history: History) -> Mapping[str, Any]:
        """Return what the journal says of the round that ends, beside its samples."""
        return {}

    async def spend_rest(self, history: History) -> str:
        """Improve the best of the run with the steps that nobody else needs; say why steps are left, if it can."""
        return ""

    async def conclude(self, history: History) -> None:
        """Record what joins the candidates when the search is over, also where it was ended early."""

    def record_products(self, history: History) -> Mapping[str, Attempt]:
        """Record policies that the run leaves beside the best, one of which may lead; return them by name."""
        return {}

    async def test_beside(self, seeds: Sequence[int], test: Evaluation) -> Mapping[str, Evaluation]:
        """Evaluate on the seeds of the best's test what it is compared with, by name."""
        return {}

    async def inspect(self, best: Attempt) -> Mapping[str, Any]:
        """Findings about the best of the run, by the name under which the result has them."""
        return {}


def merge(said: Iterable[Mapping[str, T]]) -> dict[str, T]:
    """Join what several features say, by name."""
    return {name: value for each in said for name, value in each.items()}
