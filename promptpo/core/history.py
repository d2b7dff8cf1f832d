"""The candidates of a run so far, and which of them is best.

A history is replayed from the journal: during a search, from the events reached so far (`Journal.follow`); otherwise from all.
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
"""Answers in two rounds that must see no way to improve before the run stops."""

SURE_PROBABILITY = 0.95
"""Probability of being the best above which the leader counts as certain."""

CLEAR_SPREADS = 2.0
"""Standard deviations of noise beyond which an episode is unusual."""


@dataclass
class History:
    """All attempts of a run, its rounds, and the estimates of returns.

    Attributes:
        attempts: Oldest first; within a round by slot, independent of arrival order.
        validations: Digest of a program to its evaluations on validation seeds.
        rounds: Number of completed rounds.
        stalled: Rounds since the best improved beyond noise.
        reflections: The model's conclusions after each round, if it was asked.
        reference_evaluations: Evaluations of reference policies by name, with suffix `REFERENCE_TEST` on test seeds.
        ceiling: Why the model thinks that no improvement is possible; empty while it does not.
        ceiling_reasons: Reasons given by the last round's answers that saw no way to improve.
        answers: Number of the last round's answers, with these.
        leader_id: Id of the best candidate last announced; empty before the first.
        product_id: Id of the candidate that `--policy` makes the best; empty if returns decide.
        changes: One line for each change of the best, with the paired difference; oldest first.
        earned: Minimum and maximum reward of a step in rollouts other than evaluations; empty if unknown.
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
        """Return the history after these events; RunError if they are not those of a run."""
        history = cls()
        with reading(JOURNAL):
            for event in events:
                history.add(event)
        return history

    def add(self, event: Event) -> None:
        """Update the history with an event of the journal; events that decide nothing are ignored."""
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
        """Complete a round, and decide whether the task is at its ceiling.

        The answers of a round without gain must say so: at least half of them, and two including the round before.
        """
        self.rounds, self.stalled = number, end.stalled
        self.reflections += [end.reflection] if end.reflection else []
        before = len(self.ceiling_reasons)
        self.ceiling_reasons = tuple(reason.rstrip(".") for reason in end.ceiling.values())
        places = [CandidateId.parse(attempt.id) for attempt in self.of_round(number)]
        said = len(self.ceiling_reasons)
        self.answers = said + sum(place is not None and not place.suffix for place in places)
        enough = self.stalled and 0 < said >= self.answers / 2 and said + before >= MIN_CEILING_ANSWERS
        self.ceiling = self.ceiling_reasons[0] if enough else ""  # the first request refines the best

    @property
    def references(self) -> Mapping[str, Evidence]:
        """Training and validation episodes of reference policies that ran to the end, by name."""
        return {
            name: Evidence.of(evaluation.episodes)
            for name, evaluation in self.reference_evaluations.items()
            if evaluation.outcome == "ok"
            and evaluation.episodes
            and not name.endswith(REFERENCE_TEST)
            and not name.startswith(ALWAYS)
        }

    def announce_leader(self, journal: Journal) -> None:
        """Record a change of the leader in the journal."""
        best, before = self.best(), self.find(self.leader_id)
        if best is None or best is before:
            return
        change = self._change(best, before) if before and self.runs(before) else ""
        key = f"r{self.rounds + 1}.{len(self.changes) + bool(self.leader_id)}.{best.id}"
        journal.once("lead", key, lambda: Lead(best.id, change))

    def _change(self, new: Attempt, old: Attempt) -> str:
        """Describe a change of the leader in one line."""
        difference, ours, theirs = self.return_difference(new, old), self.evidence(new), self.evidence(old)
        several = min(len(ours.episodes), len(theirs.episodes)) > 1  # one episode tells nothing about noise
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
        """Return the attempts of one round."""
        return [attempt for attempt in self.attempts if attempt.candidate.round == n]

    def find(self, candidate: str) -> Attempt | None:
        """Return the attempt with this id; None if there is none."""
        return next((attempt for attempt in self.attempts if attempt.id == candidate), None)

    def evidence(self, attempt: Attempt) -> Evidence:
        """Return a candidate's training and validation episodes with the estimate of its mean return."""
        name, known = self._name(attempt), self.returns
        estimate = known.of(name) if name in known.programs else None
        return replace(self._evidence_of(attempt), estimate=estimate)

    @functools.cached_property
    def returns(self) -> Returns:
        """Model of the returns of all candidates that ran; those with equal behaviour are one program."""
        known = {name: self._evidence_of(attempt).episodes for name, attempt in self._programs.items()}
        return Returns({name: {e.seed: e.return_ for e in episodes} for name, episodes in known.items()})

    @functools.cached_property
    def values(self) -> Returns:
        """Model of the values by which programs are compared, in which success comes first."""
        known = {name: self._evidence_of(attempt).episodes for name, attempt in self._programs.items()}
        succeeds = any(e.success for episodes in known.values() for e in episodes)
        return Returns(selection_values(known)) if succeeds else self.returns

    @functools.cached_property
    def _programs(self) -> dict[str, Attempt]:
        """First attempt of each program that ran, by name in the model; programs with equal behaviour are one."""
        programs: dict[str, Attempt] = {}
        for attempt in self._running:
            if attempt.id not in self.equivalents:
                programs.setdefault(self._name(attempt), attempt)
        return programs

    def _evidence_of(self, attempt: Attempt) -> Evidence:
        parts = attempt.evaluation, *self.validations_of(attempt)
        return Evidence.of(*(part.episodes for part in parts))

    def _name(self, attempt: Attempt) -> str:
        """Return the program's name in the model."""
        stands = self.find(self.equivalents.get(attempt.id, "")) or attempt
        return stands.candidate.digest or stands.id

    def validations_of(self, attempt: Attempt) -> Sequence[Evaluation]:
        """Return the validation evaluations of a candidate's program, oldest first."""
        return self.validations.get(attempt.candidate.digest, ())

    def runs(self, attempt: Attempt) -> bool:
        """Whether all evaluations of a candidate ended with finite returns, as the best candidate's must."""
        parts = attempt.evaluation, *self.validations_of(attempt)
        return all(part.outcome == "ok" and math.isfinite(part.mean_return) for part in parts)

    def value_difference(self, attempt: Attempt, other: Attempt) -> Estimate:
        """Estimate the difference in value between two candidates that ran."""
        return self.values.difference(self._name(attempt), self._name(other))

    def value(self, attempt: Attempt) -> float:
        """Return the estimate by which candidates that ran are compared: mean return, with success first."""
        return self.values.of(self._name(attempt)).mean

    def return_difference(self, attempt: Attempt, other: Attempt) -> Estimate:
        """Estimate the difference in return between two candidates that ran."""
        return self.returns.difference(self._name(attempt), self._name(other))

    def ranking(self) -> list[Attempt]:
        """Return attempts that ran, each program once: best estimate first, then fewer steps, then shorter source."""

        def rank(attempt: Attempt) -> tuple[float, tuple[float, int], tuple[int, bool, int, str]]:
            return -float(f"{self.value(attempt):.9g}"), _economy(attempt), _place(attempt)

        return sorted(self._programs.values(), key=rank)

    def best(self) -> Attempt | None:
        """Return the best of the run; None until a candidate has run."""
        return self.find(self.product_id) or next(iter(self.ranking()), None)

    def unlucky(self, attempt: Attempt) -> list[EpisodeRecord]:
        """Return training episodes with returns below the fitted values beyond noise, lowest first."""
        name = self._name(attempt)
        far = {e.seed: self.values.residual(name, e.seed) for e in attempt.evaluation.episodes}
        return sorted(
            (e for e in attempt.evaluation.episodes if far[e.seed] < -CLEAR_SPREADS),
            key=lambda e: far[e.seed],
        )

    def runner_up(self) -> Attempt | None:
        """Return the program most likely to be the best if the leader is not; None if the leader certainly is."""
        id_, likely = max([*self.chances.items()][1:], key=itemgetter(1), default=("", 0.0))
        return self.find(id_) if 1 - likely <= SURE_PROBABILITY else None

    @functools.cached_property
    def chances(self) -> dict[str, float]:
        """Probability of being the best, by id, in the order of `ranking`."""
        likely = self.values.probability_best()
        return {attempt.id: likely[self._name(attempt)] for attempt in self.ranking()}

    def reaches(self, threshold: float | None) -> bool:
        """Whether the mean return of the best, over all its episodes, is at least the threshold."""
        best = self.best()
        return best is not None and threshold is not None and self.evidence(best).mean_return >= threshold

    def reaches_in_training(self, threshold: float | None, attempts: Sequence[Attempt]) -> bool:
        """Whether a candidate reached the threshold in training, so that validating comes before tuning.

        If the leader did too but fell below it on fresh seeds, the candidate's training return must exceed the leader's.
        """
        if threshold is None:
            return False
        leader, bar = self.best(), -math.inf
        if leader is not None and self.evidence(leader).mean_return < threshold:
            bar = leader.evaluation.mean_return
        return any(self.runs(a) and threshold <= a.evaluation.mean_return > bar for a in attempts)

    @functools.cached_property
    def _running(self) -> list[Attempt]:
        return [attempt for attempt in self.attempts if self.runs(attempt)]

    @functools.cached_property
    def equivalents(self) -> dict[str, str]:
        """Candidate id to its representative's, for candidates with the same return in every shared episode.

        The representative is the one with the most episodes; among several, the shortest.
        """
        groups: list[list[Attempt]] = []
        for attempt in self._running:
            for group in groups:
                difference = self._evidence_of(attempt).paired_difference(self._evidence_of(group[0]))
                whole = len(difference.returns) >= len(attempt.evaluation.episodes)
                if difference.tie and whole:
                    group.append(attempt)
                    break
            else:
                groups.append([attempt])
        found: dict[str, str] = {}
        for group in groups:
            stands = min(group, key=lambda a: (-len(self._evidence_of(a).episodes), _economy(a)))
            found |= {attempt.id: stands.id for attempt in group if attempt is not stands}
        return found

    def standing(self, before: Attempt | None) -> dict[str, Any]:
        """Return the round's best and its count of stalled rounds, for the journal.

        A lead beyond its standard error counts as a gain: if returns fall into two groups, one round has too few episodes to prove it.
        """
        best = self.best()
        gained = best is not None and before is None
        if best is not None and before is not None and self.runs(before):
            lead = self.value_difference(best, before)
            gained = lead.mean > lead.standard_error
        return {"best": best.id if best else None, "stalled": 0 if gained else self.stalled + 1}


def _place(attempt: Attempt) -> tuple[int, bool, int, str]:
    """Sort key: by round, then by slot; tuned candidates after the others."""
    place = CandidateId.parse(attempt.id)
    return attempt.candidate.round, place is not None and place.is_tuned, len(attempt.id), attempt.id


def _economy(attempt: Attempt) -> tuple[float, int]:
    """Sort key, smaller is better: mean steps per episode, then length of the source."""
    episodes = attempt.evaluation.episodes
    steps = sum(episode.steps for episode in episodes) / max(1, len(episodes))
    return steps, len(attempt.candidate.source)


def duplicate_remarks(attempts: Sequence[Attempt]) -> list[Remark]:
    """Return remarks on a round's duplicate programs: the first stands for the others."""
    first: dict[str, str] = {}
    same = [(a, first.setdefault(a.candidate.digest or a.id, a.id)) for a in attempts]
    return [
        Remark(a.id, duplicate_of=earlier)
        for a, earlier in same
        if earlier != a.id and not a.candidate.duplicate_of
    ]
