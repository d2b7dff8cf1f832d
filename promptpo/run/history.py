"""The candidates of a run so far, and which of them is best.

It is folded from the journal: of a search, from the events that it has come to (`Journal.follow`); of a run, from all.
"""

from __future__ import annotations

import bisect
import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from promptpo.rollouts.evaluation import Evaluation, extremes
from promptpo.run.evidence import Change, Difference, Evidence
from promptpo.run.journal import Event, Journal, evaluation_in, from_json
from promptpo.run.records import ALWAYS, REFERENCE_TEST, TEACHER, Attempt, Experiment, Remark


@dataclass
class History:
    """All attempts, what is known of their returns, and the rounds.

    Attributes:
        marks: What policies that serve as marks earned, by name, and on test seeds under that name with `REFERENCE_TEST`.
        attempts: Oldest first; inside a round by slot, so that arrival order never matters.
        looks: Digest of a program to its episodes on validation seeds.
        rounds: How many rounds are complete.
        stalled: Rounds since the best improved beyond noise.
        reflections: What the model concluded after each round, where it was asked.
        ceiling: Why the model thinks that nothing better is possible; empty while it does not.
        leader_id: The best of the run as last judged; empty before anything was.
        tuning: Candidate id to what came of tuning its numbers, in a sentence, or why they were not tuned.
        thoughts: Why the last round's answers that said so saw no way to improve, and how many answers there were.
        teacher: What the first prompt says of a trained agent; empty without one.
        experiments: What the model has tried out to learn about the task, oldest first.
        changes: Every change of the best, with the paired difference, in a line; oldest first.
        earned: The least and the most that one step of an episode of tuning has earned; empty where that is not known.
    """

    attempts: list[Attempt] = field(default_factory=list)
    looks: dict[str, list[Evaluation]] = field(default_factory=dict)
    rounds: int = 0
    stalled: int = 0
    reflections: list[str] = field(default_factory=list)
    marks: dict[str, Evaluation] = field(default_factory=dict)
    ceiling: str = ""
    leader_id: str = ""
    tuning: dict[str, str] = field(default_factory=dict)
    thoughts: tuple[tuple[str, ...], int] = ((), 0)
    teacher: str = ""
    experiments: list[Experiment] = field(default_factory=list)
    earned: tuple[float, ...] = ()
    changes: list[str] = field(default_factory=list)

    def add(self, event: Event) -> None:
        """Take an event of the journal into account; kinds that decide nothing change nothing."""
        data = event.data
        self.__dict__.pop("alike", None)
        if event.kind == "attempt":
            bisect.insort(self.attempts, from_json(Attempt, data), key=_place)
        elif event.kind == "remark":
            remark = from_json(Remark, data)
            self.attempts = [remark.on(one) if one.id == remark.candidate else one for one in self.attempts]
        elif event.kind == "validation":
            program, _, _ = event.key.partition(".")
            self.looks.setdefault(program, []).append(evaluation_in(data))
        elif event.kind == "experiment":
            bisect.insort(self.experiments, from_json(Experiment, data), key=lambda one: (one.round, one.id))
        elif event.kind == "tuning":
            self.earned = extremes([self.earned, data.get("earned", ())])
        elif event.kind in {"reference", "teacher"} and "evaluation" in data:
            self.marks[TEACHER if event.kind == "teacher" else event.key] = evaluation_in(data)
        elif event.kind == "lead":
            self.leader_id = data["leader"]
            self.changes += [data["change"]] if data["change"] else []
        elif event.kind == "round":
            self.rounds, self.stalled = int(event.key[1:]), int(data["stalled"])
            self.leader_id = data["best"] or ""
            self.reflections += [data["reflection"]] if data["reflection"] else []

    @property
    def references(self) -> Mapping[str, Evidence]:
        """What the marks earned in training and validation, by name, where they ran to the end."""
        return {
            name: Evidence.of(one.episodes)
            for name, one in self.marks.items()
            if one.outcome == "ok"
            and one.episodes
            and not name.endswith(REFERENCE_TEST)
            and not name.startswith(ALWAYS)
        }

    def take_lead(self, change: Change, journal: Journal) -> None:
        """Write that another candidate leads from now on."""
        data = {"leader": change.new, "change": str(change) if self.leader_id else ""}
        journal.once("lead", f"r{self.rounds + 1}.{change.old}.{change.new}", lambda: data)

    def of_round(self, n: int) -> list[Attempt]:
        """The attempts of one round."""
        return [attempt for attempt in self.attempts if attempt.candidate.round == n]

    def find(self, candidate: str) -> Attempt | None:
        """The attempt of that id."""
        return next((attempt for attempt in self.attempts if attempt.id == candidate), None)

    def evidence(self, attempt: Attempt) -> Evidence:
        """The training and validation episodes of a candidate."""
        return Evidence.of(attempt.evaluation.episodes, *(look.episodes for look in self.looks_of(attempt)))

    def looks_of(self, attempt: Attempt) -> Sequence[Evaluation]:
        """What was seen of a candidate's program on validation seeds, oldest first."""
        return self.looks.get(attempt.candidate.digest, ())

    def runs(self, attempt: Attempt) -> bool:
        """Whether a candidate ran to the end with finite returns wherever it was looked at, so that it may win anything."""
        parts = attempt.evaluation, *self.looks_of(attempt)
        return all(part.outcome == "ok" and math.isfinite(part.mean_return) for part in parts)

    def against(self, one: Attempt, other: Attempt) -> Difference:
        """How one candidate differs from another over the episodes that both have played."""
        return self.evidence(one).against(self.evidence(other))

    def better(self, one: Attempt, other: Attempt) -> bool:
        """Whether one candidate is put before another: by `Evidence.lead`, then fewer steps, then the shorter source."""
        lead = self.evidence(one).lead(self.evidence(other))
        return lead > 0 if lead else _economy(one) < _economy(other)

    def ranked(self) -> list[Attempt]:
        """Attempts that ran, best first, each program once: the leader, then the others by comparison."""
        left = list({a.candidate.digest or a.id: a for a in reversed(self._running())}.values())[::-1]
        ranked: list[Attempt] = []
        while first := self._first(left):
            ranked.append(first)
            left = [attempt for attempt in left if attempt is not first]
        return ranked

    def best(self) -> Attempt | None:
        """The best of the run; None while nothing ran."""
        return self._first(self._running())

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
        leader, bar = self.find(self.leader_id), -math.inf
        if leader is not None and self.evidence(leader).mean_return < threshold:
            bar = leader.evaluation.mean_return
        return any(self.runs(one) and threshold <= one.evaluation.mean_return > bar for one in attempts)

    def _first(self, attempts: Sequence[Attempt]) -> Attempt | None:
        """The best of some; the leader was judged against what it was compared with, and stays first."""
        leader = next((a for a in attempts if a.id == self.leader_id), None)
        if leader is not None:
            return leader
        best: Attempt | None = None
        for attempt in attempts:
            if best is None or self.better(attempt, best):
                best = attempt
        return best

    def _running(self) -> list[Attempt]:
        return [attempt for attempt in self.attempts if self.runs(attempt)]

    @functools.cached_property
    def alike(self) -> dict[str, str]:
        """Candidate id to the one that stands for it, where both had the same return in every episode that they share: the shortest."""
        groups: list[list[Attempt]] = []
        for attempt in self._running():
            for group in groups:
                difference = self.against(attempt, group[0])
                whole = len(difference.returns) >= len(attempt.evaluation.episodes)
                if difference.tie and whole:
                    group.append(attempt)
                    break
            else:
                groups.append([attempt])
        stand = [min(group, key=lambda a: (a.id != self.leader_id, _economy(a))) for group in groups]
        return {a.id: one.id for one, group in zip(stand, groups, strict=True) for a in group if a is not one}

    def standing(self, before: Attempt | None) -> dict[str, Any]:
        """What the round has come to, for the journal, and whether its best is better than the one `before`.

        A new best whose lead is larger than its standard error counts: where returns fall into two groups, a single
        round has too few episodes to put a real gain beyond doubt.
        """
        best = self.best()
        gained = best is not None and before is None
        if best is not None and before is not None and best.id != before.id:
            lead = self.against(best, before)
            gained = lead.verdict > 0 or (len(lead.returns) > 1 and lead.mean > lead.standard_error)
        return {"best": best.id if best else None, "stalled": 0 if gained else self.stalled + 1}

    def promote(self, journal: Journal) -> None:
        """Let who was not judged any more lead where it is clearly better on the episodes it shares, and no worse on all.

        What was judged stays in its order: who is better on a few shared episodes than someone who is better on a few others
        need not be better than either.
        """
        leader = self.find(self.leader_id)
        for attempt in self._running():
            if leader is None or attempt.candidate.round <= self.rounds:
                continue
            above = self.evidence(attempt).mean_return >= self.evidence(leader).mean_return
            lead = self.against(attempt, leader)
            if above and lead.verdict > 0:
                self.take_lead(Change(leader.id, attempt.id, lead), journal)
                leader = attempt


def _place(attempt: Attempt) -> tuple[int, bool, int, str]:
    """Sort key: by round, then as they were asked for; tuned ones after the others."""
    return attempt.candidate.round, attempt.id.endswith("t"), len(attempt.id), attempt.id


def _economy(attempt: Attempt) -> tuple[float, int]:
    """Sort key, smaller is better: steps of an episode, then length of the source."""
    episodes = attempt.evaluation.episodes
    steps = sum(episode.steps for episode in episodes) / max(1, len(episodes))
    return steps, len(attempt.candidate.source)


def twins(attempts: Sequence[Attempt]) -> list[Remark]:
    """What is to be said of a round's equal programs: the first stands for the others."""
    first: dict[str, str] = {}
    same = [(a, first.setdefault(a.candidate.digest or a.id, a.id)) for a in attempts]
    return [
        Remark(a.id, duplicate_of=twin) for a, twin in same if twin != a.id and not a.candidate.duplicate_of
    ]
