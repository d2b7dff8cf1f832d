"""The candidates of a run so far, and which of them is best.

The loop adds to its own while it decides; `History.add` adds the same from the events that it wrote.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.evidence import Change, Difference, Evidence, ran
from promptpo.run.journal import Event, evaluation_in, from_json
from promptpo.run.records import Attempt, Experiment, Remark

Once: TypeAlias = Callable[[Any, str, Callable[[], Any]], Any]


@dataclass
class History:
    """All attempts, what is known of their returns, and the rounds.

    Attributes:
        attempts: Oldest first; inside a round by slot, so that arrival order never matters.
        looks: Candidate id to its episodes on validation seeds.
        alike: Candidate id to the one that stands for it, where both had the same return in every episode.
        rounds: How many rounds are complete.
        stalled: Rounds since the best improved beyond noise.
        reflections: What the model concluded after each round, where it was asked.
        ceiling: Why the model thinks that nothing better is possible; empty while it does not.
        arrived: Attempts of the round in progress by slot; they join `attempts` when it is complete, so
            that nothing depends on the order in which answers come.
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
    alike: dict[str, str] = field(default_factory=dict)
    rounds: int = 0
    stalled: int = 0
    reflections: list[str] = field(default_factory=list)
    references: Mapping[str, Evidence] = field(default_factory=dict)
    ceiling: str = ""
    arrived: dict[int, Attempt] = field(default_factory=dict)
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
        if event.kind == "attempt":
            bisect.insort(self.attempts, from_json(Attempt, data), key=_place)
        elif event.kind == "remark":
            self.remark(from_json(Remark, data))
        elif event.kind == "validation":
            program, _, _ = event.key.partition(".")
            self.looks.setdefault(program, []).append(evaluation_in(data))
        elif event.kind == "experiment":
            self.experiments.append(from_json(Experiment, data))
        elif event.kind == "lead":
            self.leader_id = data["leader"]
            self.changes += [data["change"]] if data["change"] else []
        elif event.kind == "round":
            self.rounds, self.stalled = int(event.key[1:]), int(data["stalled"])
            self.leader_id = data["best"] or ""
            self.reflections += [data["reflection"]] if data["reflection"] else []

    def remark(self, remark: Remark) -> None:
        """Take into account what became known of a candidate."""
        for place, attempt in enumerate(self.attempts):
            if attempt.id == remark.candidate:
                self.attempts[place] = remark.on(attempt)

    def take_lead(self, change: Change, once: Once = lambda *_: None) -> None:
        """Another candidate leads from now on.

        Args:
            change: Who, and before whom.
            once: Writes an event, where it was not written before.
        """
        data = {"leader": change.new, "change": str(change) if self.leader_id else ""}
        once("lead", f"r{self.rounds + 1}.{change.old}.{change.new}", lambda: data)
        self.changes += [data["change"]] if self.leader_id else []
        self.leader_id = change.new

    def absorb(
        self, *, duplicates: bool = True, keep: Callable[[Remark], Remark] = lambda remark: remark
    ) -> list[Attempt]:
        """Move what has arrived into `attempts`, by slot, and return it.

        Args:
            duplicates: Whether to recognise equal programs; the first stands for them all.
            keep: Told which are recognised.
        """
        arrived: list[Attempt] = []
        first: dict[str, str] = {}
        for slot in sorted(self.arrived):
            attempt = self.arrived[slot]
            digest = attempt.candidate.digest
            twin = first.setdefault(digest, attempt.id) if digest else attempt.id
            if duplicates and twin != attempt.id and not attempt.candidate.duplicate_of:
                attempt = keep(Remark(attempt.id, duplicate_of=twin)).on(attempt)
            arrived.append(attempt)
        self.attempts.extend(arrived)
        self.arrived.clear()
        return arrived

    def of_round(self, n: int) -> list[Attempt]:
        """The attempts of one round."""
        return [attempt for attempt in self.attempts if attempt.candidate.round == n]

    def find(self, candidate: str) -> Attempt | None:
        """The attempt of that id."""
        return next((attempt for attempt in self.attempts if attempt.id == candidate), None)

    def evidence(self, attempt: Attempt) -> Evidence:
        """The training and validation episodes of a candidate."""
        return Evidence.of(attempt.evaluation.episodes, *(look.episodes for look in self.looks_of(attempt)))

    def looks_of(self, attempt: Attempt) -> list[Evaluation]:
        """What was seen of a candidate's program on validation seeds, oldest first."""
        candidate = attempt.candidate
        return [
            look
            for name in dict.fromkeys((candidate.duplicate_of or candidate.id, candidate.digest))
            for look in self.looks.get(name, ())
        ]

    def runs(self, attempt: Attempt) -> bool:
        """Whether a candidate ran to the end with finite returns wherever it was looked at."""
        return ran(attempt.evaluation, self.looks_of(attempt))

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
        leader = self.find(self.leader_id)
        misled = leader is not None and self.evidence(leader).mean_return < threshold
        bar = leader.evaluation.mean_return if leader is not None and misled else -math.inf
        return any(
            self.runs(a) and a.evaluation.mean_return >= threshold and a.evaluation.mean_return > bar
            for a in attempts
        )

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

    def find_alike(self) -> None:
        """Find candidates with equal returns in every episode they share: the shortest stands for all."""
        self.alike.clear()
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
        for group in groups:
            stands = next((a for a in group if a.id == self.leader_id), None) or min(group, key=_economy)
            self.alike.update({a.id: stands.id for a in group if a is not stands})

    def close_round(self, before: Attempt | None) -> None:
        """Count the round, and whether it brought a best that is better than the one `before`.

        A new best whose lead is larger than its standard error counts: where returns fall into two groups, a single
        round has too few episodes to put a real gain beyond doubt.
        """
        best = self.best()
        gained = best is not None and before is None
        if best is not None and before is not None and best.id != before.id:
            lead = self.against(best, before)
            gained = lead.verdict > 0 or (len(lead.returns) > 1 and lead.mean > lead.standard_error)
        self.stalled = 0 if gained else self.stalled + 1
        self.rounds += 1

    def standing(self) -> dict[str, Any]:
        """What the rounds have come to, for the journal."""
        best = self.best()
        evidence = self.evidence(best) if best else Evidence()
        return {
            "best": best.id if best else None,
            "mean_return": evidence.mean_return if best else None,
            "standard_error": evidence.standard_error if best else None,
            "episodes": len(evidence.episodes),
            "stalled": self.stalled,
            "reflection": self.reflections[-1] if self.reflections else "",
        }

    def promote(self, once: Once = lambda *_: None) -> None:
        """Let who was not judged any more lead where it is clearly better on the episodes it shares, and no worse on all.

        What was judged stays in its order: who is better on a few shared episodes than someone who is better on a few others
        need not be better than either.

        Args:
            once: As for `take_lead`.
        """
        leader = self.find(self.leader_id)
        for attempt in self._running():
            if leader is None or attempt.candidate.round <= self.rounds:
                continue
            above = self.evidence(attempt).mean_return >= self.evidence(leader).mean_return
            if above and self.against(attempt, leader).verdict > 0:
                self.take_lead(Change(leader.id, attempt.id, self.against(attempt, leader)), once)
                leader = attempt


def _place(attempt: Attempt) -> tuple[int, bool, int, str]:
    """Sort key: by round, then as they were asked for; tuned ones after the others."""
    return attempt.candidate.round, attempt.id.endswith("t"), len(attempt.id), attempt.id


def _economy(attempt: Attempt) -> tuple[float, int]:
    """Sort key, smaller is better: steps of an episode, then length of the source."""
    episodes = attempt.evaluation.episodes
    steps = sum(episode.steps for episode in episodes) / max(1, len(episodes))
    return steps, len(attempt.candidate.source)
