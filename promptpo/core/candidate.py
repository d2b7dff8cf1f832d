"""Value types of a run: seeds, candidates, attempts, and the payloads of its events.

All are frozen and survive a round trip through JSON (see `promptpo.core.journal`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from promptpo.envs.task import HELD_OUT_SEEDS
from promptpo.rollouts.evaluation import Evaluation
from promptpo_sandbox import Rollout

StepPurpose = Literal["train", "validation", "test", "tune", "spec", "reference", "probe"]

REFERENCE_TEST = ".test"
"""Suffix of the keys of references evaluated on test seeds, whose steps are outside the budget."""

SEEDS_PER_PURPOSE = 10_000_000
"""Seeds from 0 are for training, the next ten million for validation, the next for test, the next for a family's variants."""


@dataclass(frozen=True, slots=True)
class Seeds:
    """Disjoint episode seeds for training, validation and test.

    Training seeds depend on the run's seed. Validation and test seeds are the same for every run and every method, so that
    results can be compared in pairs; nothing shown to a model or used for tuning is computed from them.
    """

    run_seed: int = 0

    def train(self, n: int, *, start: int = 0) -> tuple[int, ...]:
        """Return `n` training seeds, from the `start`-th on."""
        digest = hashlib.blake2b(f"promptpo train {self.run_seed}".encode(), digest_size=8).digest()
        offset = int.from_bytes(digest, "little")
        return tuple((offset + start + i) % SEEDS_PER_PURPOSE for i in range(n))

    def validation(self, n: int, *, start: int = 0) -> range:
        """Return `n` validation seeds, from the `start`-th on, used to choose the best candidate of a run."""
        return range(SEEDS_PER_PURPOSE + start, SEEDS_PER_PURPOSE + start + n)

    def test(self, n: int) -> range:
        """Return `n` held-out test seeds, used for the reported return and nothing else."""
        return range(2 * SEEDS_PER_PURPOSE, 2 * SEEDS_PER_PURPOSE + n)

    def variants(self, n: int) -> tuple[int, ...]:
        """Return `n` test seeds of held-out variants; see `promptpo.envs.task.HELD_OUT_SEEDS`."""
        return tuple(HELD_OUT_SEEDS[:n])


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How much one parameter mattered in some tuning episodes.

    Attributes:
        share: Share of the variance between the tried parameter vectors that this parameter explains, from 0 to 1; 0 if noise
            could explain it too.
        at_bound: The bound at which the chosen value lies: "lower", "upper" or "".
    """

    share: float
    at_bound: str = ""
    episodes: int = 0


class CandidateId(NamedTuple):
    """Id of a candidate from an answer, "r2c3", or from tuning, "r2c3t"; features have their own ids.

    The round is 0 for initial policies. Slots count from 1; tuned versions of an earlier round's candidates follow the others.
    """

    round: int
    slot: int
    suffix: str = ""

    def __str__(self) -> str:
        return f"r{self.round}c{self.slot}{self.suffix}"

    @classmethod
    def parse(cls, text: str) -> CandidateId | None:
        """Parse an id; None if it has neither form."""
        found = _CANDIDATE_ID.fullmatch(text)
        return cls(int(found[1]), int(found[2]), found[3] or "") if found else None

    @property
    def is_tuned(self) -> bool:
        """Whether it comes from tuning, "r2c3t", or from tuning that was stopped early, "r2c3t5"."""
        return self.suffix.rstrip("0123456789").endswith("t")


_CANDIDATE_ID = re.compile(r"r(\d{1,9})c(\d{1,9})([a-z]\w*)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One policy source and where it came from.

    Attributes:
        id: Unique in its run, for example "r2c3" (round 2, candidate 3).
        source: The policy module, with tuned values in ``PARAMS`` where tuning changed them.
        digest: Equal for programs that differ only in layout, comments and local names.
        parents: Ids of the candidates that the prompt showed as its starting point.
        repairs: Number of repair calls it took.
        tuned: Parameter name to (value before, value after), for the values that tuning changed.
        duplicate_of: Id of an earlier candidate with the same syntax tree.
        calls: Journal keys of the model calls that led to it.
        origin: Author, if not the models that the run asks for policies: "user", or a feature's name for it. Tuning does not
            change the author.
    """

    id: str
    source: str
    round: int
    digest: str = ""
    parents: tuple[str, ...] = ()
    repairs: int = 0
    tuned: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    duplicate_of: str | None = None
    calls: tuple[str, ...] = ()
    sensitivity: Mapping[str, Sensitivity] = field(default_factory=dict)
    origin: str = ""


@dataclass(frozen=True, slots=True)
class EpisodeSummary:
    """Summary of one episode for the prompt.

    Attributes:
        role: Why it is shown: "best", "worst", "typical" if all are equal, or its number.
        ending: "terminated" or "reached the horizon".
        text: Summary by the feedback class.
        parts: Sums of a reward program's terms, by name.
        given: Initial information in words, such as a mission, with its name; empty if it is the same in all episodes.
    """

    role: str
    seed: int
    return_: float
    steps: int
    ending: str
    text: str
    parts: Mapping[str, float] = field(default_factory=dict)
    given: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Summary of a candidate's episodes for the prompt.

    Attributes:
        episodes: The worst and the best episode, or all, as the recipe says.
        trace: Steps of the worst or failed episode, as a table.
        by: Journal key of the call that wrote the feedback class; empty for the built-in summary.
        rewards: Minimum and maximum reward of a step in its training episodes; empty if unknown.
        constant: The action taken in every step, as text; empty if actions differ.
    """

    episodes: tuple[EpisodeSummary, ...] = ()
    trace: str = ""
    by: str = ""
    rewards: tuple[float, ...] = ()
    constant: str = ""

    def of(self, *roles: str) -> EpisodeSummary | None:
        """Return the first episode in one of these roles, tried in order; None if there is none."""
        return next((e for role in roles for e in self.episodes if e.role == role), None)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A candidate and the results of its training rollouts.

    Attributes:
        feedback: Description of what happened, as one text.
        prose: The model's description of it.
        notes: Remarks by tuning or parsing, for the next prompt.
        diagnosis: Summaries of single episodes, from which prompts select.
    """

    candidate: Candidate
    evaluation: Evaluation
    feedback: str = ""
    prose: str = ""
    notes: tuple[str, ...] = ()
    diagnosis: Diagnosis = Diagnosis()

    @property
    def id(self) -> str:
        """The candidate's id."""
        return self.candidate.id


@dataclass(frozen=True, slots=True)
class RecordedRollout:
    """Payload of an event with episodes of a candidate, as it was after some repairs; `spent` has their steps by purpose."""

    evaluation: Evaluation
    spent: Mapping[str, int] = field(default_factory=dict)
    candidate: str = ""
    repairs: int = 0


@dataclass(frozen=True, slots=True)
class Lead:
    """Payload of a "lead" event: another candidate becomes the best of the run; one line says why, unless it is the first."""

    leader: str
    change: str = ""


@dataclass(frozen=True, slots=True)
class RoundEnd:
    """Payload of a "round" event.

    Attributes:
        stalled: Rounds since the best improved.
        unanswered: Why samples are unanswered, by slot.
        ceiling: Reasons given by answers that see no way to improve, by slot.
        untuned: Why tuning gained nothing; empty if it gained.
        prospect: Gain to expect from another round, in words.
    """

    stalled: int
    reflection: str = ""
    unanswered: Mapping[str, str] = field(default_factory=dict)
    ceiling: Mapping[str, str] = field(default_factory=dict)
    untuned: str = ""
    prospect: str = ""


@dataclass(frozen=True, slots=True)
class PlannedTest:
    """Decision on the number of test episodes, of those requested."""

    episodes: int
    of: int = 0


@dataclass(frozen=True, slots=True)
class Remark:
    """A fact about a candidate recorded after its attempt: it is a duplicate, or tuning its parameters gained nothing."""

    candidate: str
    duplicate_of: str | None = None
    sensitivity: Mapping[str, Sensitivity] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def on(self, attempt: Attempt) -> Attempt:
        """Return the candidate's attempt with this remark added."""
        candidate = replace(
            attempt.candidate,
            duplicate_of=attempt.candidate.duplicate_of or self.duplicate_of,
            sensitivity=self.sensitivity or attempt.candidate.sensitivity,
        )
        return replace(attempt, candidate=candidate, notes=(*attempt.notes, *self.notes))


@dataclass(frozen=True, slots=True)
class RolloutResult:
    """A recorded evaluation, and its rollout with trajectories if requested; None if the journal already had the evaluation."""

    evaluation: Evaluation
    rollout: Rollout | None
