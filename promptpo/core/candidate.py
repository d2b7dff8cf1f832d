"""The values that travel through a run: seeds, candidates, attempts, scores.

All of them are frozen; all of them survive a round trip through JSON (see `promptpo.core.journal`).
What rolling a candidate out gives is in `promptpo.rollouts.evaluation`.
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
"""How the key of a reference ends that was measured on test seeds: its steps are outside the budget."""

SEEDS_PER_PURPOSE = 10_000_000
"""Seeds 0 to 9,999,999 train, the next ten million validate, the next ten million test, and ten million
more test the variants of a family that are held out."""


@dataclass(frozen=True, slots=True)
class Seeds:
    """Disjoint episode seeds for training, validation and test.

    Training seeds depend on the run's seed. Validation and test seeds are the same for every run and
    every method, so that results can be compared pairwise; nothing that a model or a tuner sees is
    ever computed from them.
    """

    run_seed: int = 0

    def train(self, n: int, *, start: int = 0) -> tuple[int, ...]:
        """`n` training seeds, from the `start`-th on."""
        digest = hashlib.blake2b(f"promptpo train {self.run_seed}".encode(), digest_size=8).digest()
        offset = int.from_bytes(digest, "little")
        return tuple((offset + start + i) % SEEDS_PER_PURPOSE for i in range(n))

    def validation(self, n: int, *, start: int = 0) -> range:
        """`n` validation seeds, from the `start`-th on: they choose the best candidate of a run."""
        return range(SEEDS_PER_PURPOSE + start, SEEDS_PER_PURPOSE + start + n)

    def test(self, n: int) -> range:
        """`n` held-out test seeds: they give the number that is reported, and nothing else."""
        return range(2 * SEEDS_PER_PURPOSE, 2 * SEEDS_PER_PURPOSE + n)

    def held_out_variants(self, n: int) -> tuple[int, ...]:
        """`n` test seeds of variants that training never saw; see `promptpo.envs.task.HELD_OUT_SEEDS`."""
        return tuple(HELD_OUT_SEEDS[:n])


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How much one parameter mattered while it was tuned.

    Attributes:
        share: Of the differences between the vectors that were tried, what this parameter explains, from 0
            to 1; 0 where noise could explain it as well.
        at_bound: Which bound of its range the chosen value lies at: "lower", "upper" or "".
        episodes: Tuning episodes that this is read from.
    """

    share: float
    at_bound: str = ""
    episodes: int = 0


class CandidateId(NamedTuple):
    """The id of a candidate that an answer brought, "r2c3", or tuning, "r2c3t"; features have ids of their own beside.

    Attributes:
        round: Counted from 1; 0 for what the user gave.
        slot: Which of the round, from 1; what was tuned of an earlier round stands behind the others.
        suffix: Letters and digits that say what was done to it; empty for what was answered.
    """

    round: int
    slot: int
    suffix: str = ""

    def __str__(self) -> str:
        return f"r{self.round}c{self.slot}{self.suffix}"

    @classmethod
    def parse(cls, text: str) -> CandidateId | None:
        """Read an id; None for one that is none of these."""
        found = _CANDIDATE_ID.fullmatch(text)
        return cls(int(found[1]), int(found[2]), found[3] or "") if found else None

    @property
    def is_tuned(self) -> bool:
        """Whether tuning gave it, "r2c3t", or what was found until it was ended, "r2c3t5"."""
        return self.suffix.rstrip("0123456789").endswith("t")


_CANDIDATE_ID = re.compile(r"r(\d{1,9})c(\d{1,9})([a-z]\w*)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One policy source and where it came from.

    Attributes:
        id: Unique in its run, for example "r2c3" (round 2, candidate 3).
        source: The policy module, with tuned values in ``PARAMS`` where tuning changed them.
        digest: Equal for programs that differ in layout, comments and local names only.
        round: Counted from 1.
        parents: Ids of the candidates that the prompt showed as its starting point.
        repairs: How many repair calls it took.
        tuned: Parameter name to (value before, value after), where tuning changed it.
        duplicate_of: Id of an earlier candidate with the same syntax tree.
        calls: Journal keys of the model calls that led to it.
        sensitivity: Parameter name to how much it moved the return, where its numbers were tuned.
        origin: Who wrote it where not those that the run asks for policies: "user", or a feature's word; tuned numbers change
            no author.
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
        role: Why this one: "best", "median", "worst", "typical" where all are equal, or its number.
        seed: Of the episode.
        return_: Its return.
        steps: Its length.
        ending: "terminated" or "reached the horizon".
        text: What the feedback class says about it.
        parts: Sums of the parts of a reward program's rewards, by name.
        given: What it began with in words, as a mission is, with its name; empty where that is the same in all episodes.
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
        episodes: The best, the median and the worst, or all, as the recipe says.
        trace: Steps of the worst episode, or of the one that failed, as a table.
        by: Journal key of the call that wrote the feedback class; empty for the built-in summary.
        rewards: The least and the greatest reward of one step of its training episodes; empty where that is not known.
        constant: The action that it gave in every step, as text; empty where it gave several.
    """

    episodes: tuple[EpisodeSummary, ...] = ()
    trace: str = ""
    by: str = ""
    rewards: tuple[float, ...] = ()
    constant: str = ""

    def of(self, *roles: str) -> EpisodeSummary | None:
        """The first episode told in one of these roles."""
        return next((told for role in roles for told in self.episodes if told.role == role), None)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A candidate and what its training rollouts gave.

    Attributes:
        candidate: The source and where it came from.
        evaluation: On training seeds.
        feedback: What happened, as one text.
        prose: What the model said about it.
        notes: Remarks of the tuner or the parser, for the next prompt.
        diagnosis: What happened in single episodes, from which prompts take what they show.
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
    """Data of an event that holds episodes of a program.

    Attributes:
        evaluation: The episodes.
        spent: Steps, by what they are called in results.
        candidate: Id of the program's candidate.
        repairs: How many repairs it had had.
    """

    evaluation: Evaluation
    spent: Mapping[str, int] = field(default_factory=dict)
    candidate: str = ""
    repairs: int = 0


@dataclass(frozen=True, slots=True)
class Lead:
    """Data of a "lead" event: another candidate is the best of the run from now on.

    Attributes:
        leader: Its id.
        change: The change in a line; empty where there was no best before.
    """

    leader: str
    change: str = ""


@dataclass(frozen=True, slots=True)
class RoundEnd:
    """Data of a "round" event.

    Attributes:
        stalled: Rounds since the best improved.
        reflection: What the model concluded; empty where it was not asked.
        unanswered: Why samples have no answer, by slot.
        ceiling: Why answers saw no way to improve, by slot.
        untuned: Why tuning gained nothing; empty if it did.
        prospect: Why the search goes on.
    """

    stalled: int
    reflection: str = ""
    unanswered: Mapping[str, str] = field(default_factory=dict)
    ceiling: Mapping[str, str] = field(default_factory=dict)
    untuned: str = ""
    prospect: str = ""


@dataclass(frozen=True, slots=True)
class PlannedTest:
    """Decision on how many episodes a test is of.

    Attributes:
        episodes: So many.
        of: So many were wanted.
    """

    episodes: int
    of: int = 0


@dataclass(frozen=True, slots=True)
class Remark:
    """A fact about a candidate that arrived after its attempt was journaled.

    Attributes:
        candidate: Its id.
        duplicate_of: Id of a candidate of the same round with the same syntax tree, where there is one.
        sensitivity: Parameter name to how much it moved the return, where its numbers were tuned in vain.
        notes: What tuning says of it.
    """

    candidate: str
    duplicate_of: str | None = None
    sensitivity: Mapping[str, Sensitivity] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def on(self, attempt: Attempt) -> Attempt:
        """The candidate's attempt with what this says of it."""
        candidate = replace(
            attempt.candidate,
            duplicate_of=attempt.candidate.duplicate_of or self.duplicate_of,
            sensitivity=self.sensitivity or attempt.candidate.sensitivity,
        )
        return replace(attempt, candidate=candidate, notes=(*attempt.notes, *self.notes))


@dataclass(frozen=True, slots=True)
class RolloutResult:
    """Result of rolling out a program.

    Attributes:
        evaluation: The result, as the journal has it.
        rollout: With trajectories where they were asked for; None when the journal had the result already.
    """

    evaluation: Evaluation
    rollout: Rollout | None
