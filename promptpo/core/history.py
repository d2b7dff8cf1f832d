"""The candidates of a run so far, and which of them is best.

It is folded from the journal: of a search, from the events that it has come to (`Journal.follow`); of a run, from all.
"""

from __future__ import annotations

import bisect
import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

from promptpo.core.candidate import (
    REFERENCE_TEST,
    Attempt,
    CandidateId,
    Lead,
    RecordedRollout,
    Remark,
    RoundEnd,
)
from promptpo.core.journal import JOURNAL, Event, Journal
from promptpo.core.returns import Estimate, Evidence, Returns, selection_values
from promptpo.files import reading
from promptpo.program.reference_policies import ALWAYS
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation, extremes

MIN_CEILING_ANSWERS = 2
"""Answers of two rounds that have to see no way to improve before it is believed."""

SURE_PROBABILITY = 0.95
"""Probability of being the best from which on a program is taken for it."""

CLEAR_SPREADS = 2.0
"""Standard deviations of noise beyond which an episode is no usual one."""


@dataclass
class History:
    """All attempts, what is known of their returns, and the rounds.

    Attributes:
        attempts: Oldest first; inside a round by slot, so that arrival order never matters.
        validations: Digest of a program to its evaluations on validation seeds.
        rounds: How many rounds are complete.
        stalled: Rounds since the best improved beyond noise.
        reflections: What the model concluded after each round, where it was asked.
        reference_evaluations: Evaluations of reference policies, by name; on test seeds under that name with `REFERENCE_TEST`.
        ceiling: Why the model thinks that nothing better is possible; empty while it does not.
        ceiling_reasons: Why answers of the last round saw no way to improve, one for each of them.
        answers: How many answers the last round had.
        leader_id: The best of the run as last announced; empty before anything was.
        product_id: The candidate that the user's `--policy` makes the best of the run; empty where returns decide.
        changes: Every change of the best, with the paired difference, in a line; oldest first.
        earned: The least and the greatest reward of one step of rollouts beside evaluations; empty where that is not known.
    """

    attempts: list[Attempt] = field(default_factory=list)
    validations: dict[str, list[Evaluation]] = field(default_factory=dict)
    rounds: int = 0
    stalled: int = 0
    reflections: list[str] = field(default_factory=list)
    reference_evaluations: dict[str, Evaluation] = field(default_factory=dict)
    ceiling: str = ""
    ceiling_reasons: tuple[str, ...] = ()
    answers: int = 0
    leader_id: str = ""
    product_id: str = ""
    earned: tuple[float, ...] = ()
    changes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, events: Iterable[Event]) -> History:
        """The history after these events.

        Raises:
            RunError: They are not those of a run.
        """
        history = cls()
        with reading(JOURNAL):
            for event in events:
                history.add(event)
        return history

    def add(self, event: Event) -> None:
        """Take an event of the journal into account; kinds that decide nothing change nothing."""
        data = event.data
        if event.kind in {"attempt", "remark", "validation"}:
            for derived in ("_running", "_programs", "chances", "equivalents", "returns", "values"):
                self.__dict__.pop(derived, None)
        if isinstance(data, dict) and isinstance(data.get("earned"), list | tuple):
            self.earned = extremes([self.earned, data["earned"]])
        if event.kind == "attempt":
            bisect.insort(self.attempts, event.read(Attempt), key=_place)
        elif event.kind == "remark":
            remark = event.read(Remark)
            self.attempts = [
                remark.on(attempt) if attempt.id == remark.candidate else attempt for attempt in self.attempts
            ]
        elif event.kind == "validation":
            program, _, _ = event.key.partition(".")
            self.validations.setdefault(program, []).append(event.read(RecordedRollout).evaluation)
        elif isinstance(data, dict) and "evaluation" in data and "reference" in data.get("spent", ()):
            name = event.key if event.kind == "reference" else event.kind
            self.reference_evaluations[name] = event.read(RecordedRollout).evaluation
        elif event.kind == "lead":
            lead = event.read(Lead)
            self.leader_id = lead.leader
            self.product_id = lead.leader if event.key.startswith("product.") else self.product_id
            self.changes += [lead.change] if lead.change else []
        elif event.kind == "round":
            self._end_round(int(event.key[1:]), event.read(RoundEnd))

    def _end_round(self, number: int, end: RoundEnd) -> None:
        """Count a round, and settle why nothing better may be possible.

        Half of the answers of a round without gain have to say so, and two of this round and the one before.
        """
        self.rounds, self.stalled = number, end.stalled
        self.reflections += [end.reflection] if end.reflection else []
        before = len(self.ceiling_reasons)
        self.ceiling_reasons = tuple(reason.rstrip(".") for reason in end.ceiling.values())
        places = [CandidateId.parse(attempt.id) for attempt in self.of_round(number)]
        said = len(self.ceiling_reasons)
        self.answers = said + sum(place is not None and not place.suffix for place in places)
        enough = self.stalled and 0 < said >= self.answers / 2 and said + before >= MIN_CEILING_ANSWERS
        self.ceiling = "; ".join(dict.fromkeys(self.ceiling_reasons)) if enough else ""

    @property
    def references(self) -> Mapping[str, Evidence]:
        """Episodes of reference policies in training and validation, by name, where they ran to the end."""
        return {
            name: Evidence.of(evaluation.episodes)
            for name, evaluation in self.reference_evaluations.items()
            if evaluation.outcome == "ok"
            and evaluation.episodes
            and not name.endswith(REFERENCE_TEST)
            and not name.startswith(ALWAYS)
        }

    def announce_leader(self, journal: Journal) -> None:
        """Write which candidate leads, where that has changed."""
        best, before = self.best(), self.find(self.leader_id)
        if best is None or best is before:
            return
        change = self._change(best, before) if before and self.runs(before) else ""
        key = f"r{self.rounds + 1}.{len(self.changes) + bool(self.leader_id)}.{best.id}"
        journal.once("lead", key, lambda: Lead(best.id, change))

    def _change(self, new: Attempt, old: Attempt) -> str:
        """A change of the leader in a line."""
        difference, ours, theirs = self.gap(new, old), self.evidence(new), self.evidence(old)
        several = min(len(ours.episodes), len(theirs.episodes)) > 1  # one tells nothing of noise
        error = f" ± {difference.standard_error:.2g}" if several else ""
        success = "" if ours.success_rate is None else f", success {ours.success_rate:.0%}"
        success += "" if not success or theirs.success_rate is None else f" against {theirs.success_rate:.0%}"
        likely = self.values.probability_best()[self._name(new)]
        sure = f", the best with probability {likely:.0%}" if several else ""
        return (
            f"{new.id} takes the lead from {old.id}: {difference.mean:+.3g}{error} in return{success}{sure} "
            f"({len(ours.episodes)} and {len(theirs.episodes)} episodes)"
        )

    def of_round(self, n: int) -> list[Attempt]:
        """The attempts of one round."""
        return [attempt for attempt in self.attempts if attempt.candidate.round == n]

    def find(self, candidate: str) -> Attempt | None:
        """The attempt of that id."""
        return next((attempt for attempt in self.attempts if attempt.id == candidate), None)

    def evidence(self, attempt: Attempt) -> Evidence:
        """The training and validation episodes of a candidate, and the estimate of its mean return."""
        known, name = Evidence.of(self._episodes(attempt)), self._name(attempt)
        return replace(known, estimate=self.returns.of(name) if name in self.returns.programs else None)

    @functools.cached_property
    def returns(self) -> Returns:
        """The model of the returns of all candidates that ran; of those that behave alike it knows one."""
        known = {name: self._episodes(attempt) for name, attempt in self._programs.items()}
        return Returns({name: {e.seed: e.return_ for e in episodes} for name, episodes in known.items()})

    @functools.cached_property
    def values(self) -> Returns:
        """The same of what episodes count for where programs are compared: success comes first."""
        known = {name: self._episodes(attempt) for name, attempt in self._programs.items()}
        succeeds = any(e.success for episodes in known.values() for e in episodes)
        return Returns(selection_values(known)) if succeeds else self.returns

    @functools.cached_property
    def _programs(self) -> dict[str, Attempt]:
        """The first attempt of each program that ran, by its name in the model; those that behave alike are one."""
        programs: dict[str, Attempt] = {}
        for attempt in self._running:
            if attempt.id not in self.equivalents and self._episodes(attempt):
                programs.setdefault(self._name(attempt), attempt)
        return programs

    def _episodes(self, attempt: Attempt) -> Sequence[EpisodeRecord]:
        more = (evaluation.episodes for evaluation in self.validations_of(attempt))
        return Evidence.of(attempt.evaluation.episodes, *more).episodes

    def _name(self, attempt: Attempt) -> str:
        """The program's name in the model."""
        stands = self.find(self.equivalents.get(attempt.id, "")) or attempt
        return stands.candidate.digest or stands.id

    def validations_of(self, attempt: Attempt) -> Sequence[Evaluation]:
        """Validation evaluations of a candidate's program, oldest first."""
        return self.validations.get(attempt.candidate.digest, ())

    def runs(self, attempt: Attempt) -> bool:
        """Whether a candidate ran to the end with finite returns wherever it was looked at, so that it may win anything."""
        parts = attempt.evaluation, *self.validations_of(attempt)
        return all(part.outcome == "ok" and math.isfinite(part.mean_return) for part in parts)

    def difference(self, attempt: Attempt, other: Attempt) -> Estimate:
        """How much more one candidate is worth than another, both having run."""
        return self.values.difference(self._name(attempt), self._name(other))

    def value(self, attempt: Attempt) -> float:
        """The estimate by which a candidate that ran is compared with others: its mean return, where success comes first."""
        return self.values.of(self._name(attempt)).mean

    def gap(self, attempt: Attempt, other: Attempt) -> Estimate:
        """How much more one candidate returns than another, both having run."""
        return self.returns.difference(self._name(attempt), self._name(other))

    def ranking(self) -> list[Attempt]:
        """Attempts that ran, each program once, the best estimate first, then fewer steps, then the shorter source."""

        def rank(attempt: Attempt) -> tuple[float, tuple[float, int], tuple[int, bool, int, str]]:
            return -float(f"{self.value(attempt):.9g}"), _economy(attempt), _place(attempt)

        return sorted(self._programs.values(), key=rank)

    def best(self) -> Attempt | None:
        """The best of the run; None while nothing ran."""
        return self.find(self.product_id) or next(iter(self.ranking()), None)

    def unlucky(self, attempt: Attempt) -> list[EpisodeRecord]:
        """Training episodes whose return is below what program and start explain, beyond noise; the lowest first."""
        name = self._name(attempt)
        far = {e.seed: self.values.residual(name, e.seed) for e in attempt.evaluation.episodes}
        return sorted(
            (e for e in attempt.evaluation.episodes if far[e.seed] < -CLEAR_SPREADS),
            key=lambda e: far[e.seed],
        )

    def runner_up(self) -> Attempt | None:
        """The program that is the likeliest to be the best if the leader is not; None where the leader surely is."""
        id_, likely = max([*self.chances.items()][1:], key=itemgetter(1), default=("", 0.0))
        return self.find(id_) if 1 - likely <= SURE_PROBABILITY else None

    @functools.cached_property
    def chances(self) -> dict[str, float]:
        """Id of each of `ranking` to the probability that it is the best."""
        likely = self.values.probability_best()
        return {attempt.id: likely[self._name(attempt)] for attempt in self.ranking()}

    def reaches(self, threshold: float | None) -> bool:
        """Whether the best of the run has a mean return, over all its episodes, of at least a threshold."""
        best = self.best()
        return best is not None and threshold is not None and self.evidence(best).mean_return >= threshold

    def may_reach(self, threshold: float | None, attempts: Sequence[Attempt]) -> bool:
        """Whether one of some candidates reached a threshold in training, so that looking again comes before tuning.

        Where the leader did too, and did not hold it on fresh seeds, training has to show more than it did.
        """
        if threshold is None:
            return False
        leader, bar = self.best(), -math.inf
        if leader is not None and self.evidence(leader).mean_return < threshold:
            bar = leader.evaluation.mean_return
        return any(
            self.runs(attempt) and threshold <= attempt.evaluation.mean_return > bar for attempt in attempts
        )

    @functools.cached_property
    def _running(self) -> list[Attempt]:
        return [attempt for attempt in self.attempts if self.runs(attempt)]

    @functools.cached_property
    def equivalents(self) -> dict[str, str]:
        """Candidate id to the one that stands for it, where both had the same return in every episode that they share.

        It is the one with most episodes; of several the shortest.
        """
        groups: list[list[Attempt]] = []
        for attempt in self._running:
            for group in groups:
                difference = Evidence.of(self._episodes(attempt)).paired_difference(
                    Evidence.of(self._episodes(group[0]))
                )
                whole = len(difference.returns) >= len(attempt.evaluation.episodes)
                if difference.tie and whole:
                    group.append(attempt)
                    break
            else:
                groups.append([attempt])
        stand = [min(group, key=lambda a: (-len(self._episodes(a)), _economy(a))) for group in groups]
        return {
            a.id: leader.id
            for leader, group in zip(stand, groups, strict=True)
            for a in group
            if a is not leader
        }

    def standing(self, before: Attempt | None) -> dict[str, Any]:
        """Summarise the round for the journal, and whether its best is better than the one `before`.

        A new best whose lead is larger than its standard error counts: where returns fall into two groups, a single
        round has too few episodes to put a real gain beyond doubt.
        """
        best = self.best()
        gained = best is not None and before is None
        if best is not None and before is not None and self.runs(before):
            lead = self.difference(best, before)
            gained = lead.mean > lead.standard_error
        return {"best": best.id if best else None, "stalled": 0 if gained else self.stalled + 1}


def _place(attempt: Attempt) -> tuple[int, bool, int, str]:
    """Sort key: by round, then as they were asked for; tuned ones after the others."""
    place = CandidateId.parse(attempt.id)
    return attempt.candidate.round, place is not None and place.is_tuned, len(attempt.id), attempt.id


def _economy(attempt: Attempt) -> tuple[float, int]:
    """Sort key, smaller is better: steps of an episode, then length of the source."""
    episodes = attempt.evaluation.episodes
    steps = sum(episode.steps for episode in episodes) / max(1, len(episodes))
    return steps, len(attempt.candidate.source)


def duplicate_remarks(attempts: Sequence[Attempt]) -> list[Remark]:
    """Remarks on a round's duplicate programs: the first stands for the others."""
    first: dict[str, str] = {}
    same = [(a, first.setdefault(a.candidate.digest or a.id, a.id)) for a in attempts]
    return [
        Remark(a.id, duplicate_of=earlier)
        for a, earlier in same
        if earlier != a.id and not a.candidate.duplicate_of
    ]
