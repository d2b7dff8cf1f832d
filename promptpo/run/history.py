"""The candidates of a run so far, and which of them is best, as the loop decides on them.

A second view beside `promptpo.run.state`, and why: see docs/architecture.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.evidence import Change, Difference, Evidence, ran
from promptpo.run.records import Attempt, Experiment, Remark

if TYPE_CHECKING:
    from promptpo.run.state import RunState


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
        looks = self.looks.get(attempt.candidate.duplicate_of or attempt.id, [])
        return Evidence.of(attempt.evaluation.episodes, *(look.episodes for look in looks))

    def runs(self, attempt: Attempt) -> bool:
        """Whether a candidate ran to the end with finite returns wherever it was looked at."""
        return ran(attempt.evaluation, self.looks.get(attempt.candidate.duplicate_of or attempt.id, []))

    def against(self, one: Attempt, other: Attempt) -> Difference:
        """How one candidate differs from another over the episodes that both have played."""
        return self.evidence(one).against(self.evidence(other))

    def seeds_of(self, attempt: Attempt) -> set[int]:
        """The starts that a candidate has played."""
        return {episode.seed for episode in self.evidence(attempt).episodes}

    def lead(self, one: Attempt, other: Attempt) -> float:
        """More than 0 where one candidate is put before another, less where after it."""
        return self.evidence(one).lead(self.evidence(other))

    def better(self, one: Attempt, other: Attempt) -> bool:
        """Whether one candidate is put before another: by `lead`, then fewer steps, then the shorter source."""
        lead = self.lead(one, other)
        return lead > 0 if lead else _economy(one) < _economy(other)

    def ranked(self) -> list[Attempt]:
        """Attempts that ran, best first, each program once: the leader, then the others by comparison."""
        left = list({a.candidate.digest or a.id: a for a in reversed(self._running())}.values())[::-1]
        ranked: list[Attempt] = []
        while left:
            first = self._first(left)
            if first is None:
                break
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
            "changes": list(self.changes),
        }

    def recall(self, state: RunState) -> None:
        """Add what the journal holds beyond this history: a run's best never gets worse by resuming.

        What was not judged any more becomes the best where it is clearly better on the episodes it shares, and no worse on
        all of them together. What was judged stays in its order: who is better on a few shared episodes than someone
        who is better on a few others need not be better than either.
        """
        self.absorb()
        known = {attempt.id for attempt in self.attempts}
        for recorded in state.candidates:
            if recorded.id not in known:
                self.attempts.append(recorded.attempt)
            if recorded.attempt.candidate.duplicate_of is None:
                looks = self.looks.setdefault(recorded.id, [])
                looks += [look for look in state.looks(recorded.attempt.candidate) if look not in looks]
        leader = self.find(self.leader_id)
        for attempt in self._running():
            if leader is None or (attempt.id in known and attempt.candidate.round <= self.rounds):
                continue
            above = self.evidence(attempt).mean_return >= self.evidence(leader).mean_return
            if above and self.against(attempt, leader).verdict > 0:
                self.changes.append(str(Change(leader.id, attempt.id, self.against(attempt, leader))))
                leader = attempt
                self.leader_id = attempt.id


def _economy(attempt: Attempt) -> tuple[float, int]:
    """Sort key, smaller is better: steps of an episode, then length of the source."""
    episodes = attempt.evaluation.episodes
    steps = sum(episode.steps for episode in episodes) / max(1, len(episodes))
    return steps, len(attempt.candidate.source)
