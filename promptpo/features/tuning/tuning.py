"""Tuning of the numbers of one or several candidates within a step budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from promptpo.core.returns import Evidence, Returns, selection_values
from promptpo.features.tuning.batches import WORST, Batch, Finalist, StepBudget, score
from promptpo.features.tuning.numbers import CmaSearch
from promptpo.features.tuning.outcome import TuningResult
from promptpo.program import Program
from promptpo.rollouts.results import record_of
from promptpo_sandbox import Trial

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from promptpo.features.tuning.batches import Score, SeedSource, Start
    from promptpo.features.tuning.tabular import TableSearch
    from promptpo_sandbox import Episode, Rollout

LANES, SHORT_EPISODES = 8, 50
"""Trials in one batch for a worker, few enough that a generation occupies several workers; eight times as many if episodes are shorter
than this, and so cheaper than their transfer."""

SEARCH = 0.88
"""Share of the steps for the search before the final choice."""

CHECK_EPISODES, PATIENCE = 4, 2
"""Full episodes per check, and consecutive checks without a gain after which a search ends."""

MAX_FINALISTS, FIRST_EPISODES, MAX_FINAL_EPISODES = 5, 2, 20
"""Maximum number of finalists, their full episodes, and maximum number of further ones of the best and the original numbers."""

PROOF = (1, 2, 3, 4, 5)
"""Full episodes, stage by stage, that prove that a target is reached."""

CHECK_SEED = 450_000
"""First training seed for full episodes; earlier ones are for generations."""

Arm: TypeAlias = "CmaSearch | TableSearch"
"""A search over one candidate's numbers. `ask` returns the next generation, None if the steps do not suffice, and `tell` learns from
it; after each `generations_per_check` generations, or once `finished`, `continue_from` gets the result of full episodes of the first
of `finalists`."""

T = TypeVar("T")
Steps: TypeAlias = "Generator[Sequence[Batch], Sequence[Rollout], T]"
"""Generator that yields batches to roll out and receives the rollouts."""


@dataclass
class Contestant:
    """State of the search over one candidate's numbers.

    Attributes:
        arm: The search.
        front: The best numbers by full episodes; at first the original ones.
        score: Score of `front` at the last check.
        idle: Consecutive checks without a gain.
    """

    arm: Arm
    front: Finalist
    score: Score = WORST
    idle: int = 0

    @property
    def best_guess(self) -> Finalist:
        """The front, or the search's own guess if no check has found better numbers than the original ones."""
        searched = self.front == self.arm.start.original and self.arm.generations
        return self.arm.finalists()[0] if searched else self.front


class Tuning:
    """Tunes the numbers of one or several candidates within a step budget.

    The search runs for some generations at a time. Then a check compares its best guess with the front in full episodes on shared
    seeds. After a gain the search continues; without one its episodes become longer, or it restarts with a larger population, and after
    two checks in a row without a gain it ends. Several candidates race: after each check the worse half is given up. Finally, the
    finalists and the original play unused seeds; the original stays unless another is better beyond noise.

    This class does no input or output: roll out `batches`, all of which may run concurrently, pass the rollouts to `step` in the same
    order, and repeat until there are no more. `result` may be called at any time, so that an interrupted tuning keeps its findings.
    Equal arguments and rollouts give equal batches.

    ```python
    tuning = Tuning(starts, steps=100_000, seeds=seeds, horizon=1000, seed=0)
    while tuning.batches:
        tuning.step([roll_out(batch) for batch in tuning.batches])
    best = tuning.result()
    ```

    Args:
        starts: The candidates, the most promising first; those without ``PARAMS`` or ``TABLE`` are returned unchanged.
        steps: Maximum number of environment steps, kept unless episodes suddenly become more than twice as long as any before.
        seeds: Source of training seeds.
        horizon: Full episode length, in steps.
        seed: Seed of all randomness.
        target: Mean return at which tuning stops.
        thorough: Whether to spend all steps, when nothing else needs them, instead of stopping after two checks without a gain.

    Attributes:
        batches: Batches to roll out next; empty at the end.
    """

    def __init__(
        self,
        starts: Sequence[Start],
        *,
        steps: int,
        seeds: SeedSource,
        horizon: int,
        seed: int,
        target: float | None = None,
        thorough: bool = False,
    ) -> None:
        self._starts, self._seeds, self._target, self._thorough = starts, seeds, target, thorough
        self._budget = StepBudget(steps, horizon)
        self._used_seeds = 0
        self._tried: list[Finalist] = []
        self._found: Finalist | None = None
        arms = [
            arm
            for i, start in enumerate(starts)
            if (arm := make_arm(start, seed + i, seeds, self._budget)) is not None
        ]
        self._racing = [Contestant(arm, arm.start.original) for arm in affordable_arms(arms, steps)]
        self._alive = list(self._racing)
        self._work = self._run()
        self.batches: Sequence[Batch] = next(self._work, ())

    def step(self, rollouts: Sequence[Rollout]) -> None:
        """Learn from the rollouts of `batches`, in the same order, and choose the next ones."""
        try:
            self.batches = self._work.send(rollouts)
        except StopIteration:
            self.batches = ()

    def result(self) -> tuple[TuningResult, ...]:
        """Return one result per candidate, in order: final at the end, before that the front so far."""
        return tuple(self._result(start) for start in self._starts)

    def _result(self, start: Start) -> TuningResult:
        contestant = next((contestant for contestant in self._racing if contestant.arm.start is start), None)
        if contestant is None:
            return TuningResult(start.id, start.program)
        if contestant is not self._alive[0]:
            return replace(contestant.arm.report_unchanged(), outcome="given up")
        finalist = self._found or contestant.best_guess
        if finalist == start.original:
            return contestant.arm.report_unchanged()
        return contestant.arm.report_tuned(finalist)

    def _run(self) -> Steps[None]:
        """Race the searches by sequential halving, continue with the best one, and make the final choice."""
        budget, alive = self._budget, self._alive
        if not alive:
            return
        fronts = [(contestant, contestant.front) for contestant in alive]
        yield from self._play_full(fronts, 1)  # to measure the length of episodes
        least = min(budget.cost(2 * (FIRST_EPISODES + 1)), budget.steps // 2)
        budget.kept = max(round((1 - SEARCH) * budget.steps), least)
        stages = 1 + math.ceil(math.log2(len(alive)))
        while any(map(self._goes_on, alive)):
            share = (budget.steps - budget.kept) / (stages * len(alive)) if len(alive) > 1 else math.inf
            affordable = False
            for contestant in alive:
                affordable |= yield from self._run_generations(contestant, share)
            if self._found:
                return
            if not affordable or budget.cost(2 * CHECK_EPISODES * len(alive)) > budget.left:
                break
            yield from self._check()
            alive.sort(key=lambda contestant: contestant.score, reverse=True)
            del alive[math.ceil(len(alive) / 2) :]
        yield from self._choose(alive[0])

    def _goes_on(self, contestant: Contestant) -> bool:
        """Whether a search is worth more steps."""
        return not contestant.arm.finished and (self._thorough or contestant.idle < PATIENCE)

    def _run_generations(self, contestant: Contestant, share: float) -> Steps[bool]:
        """Run a search up to its next check, for at most a number of steps; return whether the steps left sufficed."""
        arm, end = contestant.arm, self._budget.spent + share
        for _ in range(arm.generations_per_check):
            if arm.finished or self._budget.spent >= end:
                break
            batch = arm.ask(self._budget)
            if batch is None:
                return False
            (episodes,) = yield from self._roll([(contestant, batch)])
            arm.tell(episodes)
            if self._target is not None and (yield from self._prove(contestant, self._target)):
                break
        return True

    def _check(self) -> Steps[None]:
        """Check the searches: full episodes of each front and each best guess, all on the same seeds."""
        pairs = [
            (contestant, finalist)
            for contestant in self._alive
            for finalist in (contestant.front, contestant.arm.finalists()[0])
        ]
        played = yield from self._play_full(pairs, CHECK_EPISODES)
        for i, contestant in enumerate(self._alive):
            (old, old_score), (new, new_score) = played[2 * i : 2 * i + 2]
            gained = new_score > WORST and (old_score == WORST or _gain(new, old))
            contestant.front, contestant.score = (
                (pairs[2 * i + 1][1], new_score) if gained else (contestant.front, old_score)
            )
            contestant.idle = 0 if gained else contestant.idle + 1
            contestant.arm.continue_from(contestant.front, gained=gained)

    def _choose(self, contestant: Contestant) -> Steps[None]:
        """Make the final choice: the original stays unless another is better beyond noise; arbitrary numbers get no such protection."""
        budget, original, arbitrary = (
            self._budget,
            contestant.arm.start.original,
            contestant.arm.start.arbitrary,
        )
        budget.kept = 0
        if contestant.front == original and contestant.idle >= PATIENCE:
            self._found = original
            return
        found = [original]
        for finalist in (contestant.front, *contestant.arm.finalists()):
            found += [finalist] * (finalist not in found)
        affordable = max(0, budget.left - budget.cost(2)) // budget.cost(FIRST_EPISODES)
        players = [(contestant, finalist) for finalist in found[: min(MAX_FINALISTS, affordable)]]
        if len(players) < 2:  # noqa: PLR2004 - no evidence that others are better
            self._found = contestant.best_guess if arbitrary else original
            return
        first = yield from self._play_full(players, FIRST_EPISODES)
        rival = max(range(1, len(players)), key=lambda n: first[n][1])
        episodes = min(MAX_FINAL_EPISODES, max(1, budget.left // budget.cost(2)))
        last = yield from self._play_full([players[0], players[rival]], episodes)
        parts = zip(("original", "rival"), (first[0], first[rival]), last, strict=True)
        ran = {
            name: Evidence.of(before.episodes, after.episodes).episodes
            for name, (before, score), (after, later_score) in parts
            if WORST not in (score, later_score)
        }
        better = "rival" in ran
        if len(ran) == 2:  # noqa: PLR2004 - both
            lead = Returns(selection_values(ran)).difference("rival", "original")
            better = (lead.mean if arbitrary else lead.verdict) > 0
        self._found = players[rival][1] if better else original

    def _prove(self, contestant: Contestant, target: float) -> Steps[bool]:
        """Play full episodes of a finalist that may have reached the target; return whether it has."""
        finalist = contestant.arm.hopeful(target)
        if finalist is None or finalist in self._tried:
            return False
        self._tried.append(finalist)
        evidence = Evidence()
        for n in PROOF:
            if self._budget.cost(n) > self._budget.left:
                return False
            ((more, score),) = yield from self._play_full([(contestant, finalist)], n)
            evidence = Evidence.of(evidence.episodes, more.episodes)
            if score == WORST or evidence.mean_return < target:
                return False
        if not evidence.exceeds(target):
            return False
        self._alive.sort(key=lambda other: other is not contestant)
        self._found = finalist
        if contestant.arm.start.arbitrary:
            yield from self._drop_weak_numbers(contestant, finalist, evidence.mean_return)
        return True

    def _drop_weak_numbers(self, contestant: Contestant, longer: Finalist, known: float) -> Steps[None]:
        """Remove the weakest number of a library's program as long as it returns as much without it."""
        from promptpo.features.program_search.library import leave_out, read_genome

        mine = read_genome(longer.program.source) is not None
        while mine and len(longer.params) > 1 and self._budget.cost(CHECK_EPISODES) <= self._budget.left:
            weakest = min(longer.params, key=lambda name: abs(longer.params[name]))
            kept = {name: value for name, value in longer.params.items() if name != weakest}
            longer = Finalist(Program.from_source(leave_out(longer.program.source, weakest)), kept)
            ((_, score),) = yield from self._play_full([(contestant, longer)], CHECK_EPISODES)
            if score[1] < known:
                return
            self._found = longer

    def _play_full(
        self, finalists: Sequence[tuple[Contestant, Finalist]], n: int
    ) -> Steps[list[tuple[Evidence, Score]]]:
        """Play full episodes of several finalists on the same unused seeds."""
        seeds, horizon = self._seeds(CHECK_SEED + self._used_seeds, n), self._budget.horizon
        self._used_seeds += n
        asked = [
            (contestant, Batch(f.program, tuple(Trial(seed, f.params, horizon) for seed in seeds)))
            for contestant, f in finalists
        ]
        rolled = yield from self._roll(asked)
        return [(Evidence.of(record_of(e) for e in part if e is not None), score(part)) for part in rolled]

    def _roll(self, asked: Sequence[tuple[Contestant, Batch]]) -> Steps[list[list[Episode | None]]]:
        """Roll out batches in smaller parts, and return their episodes, one per trial."""
        lanes = LANES if self._budget.longest >= SHORT_EPISODES else 8 * LANES
        parts = [(i, part) for i, (_, batch) in enumerate(asked) for part in batch.split(lanes)]
        rollouts = yield [part for _, part in parts]
        episodes: list[list[Episode | None]] = [[] for _ in asked]
        for (i, part), rollout in zip(parts, rollouts, strict=True):
            finished = iter(rollout.episodes)
            mine = [
                None if n in rollout.unfinished else next(finished, None) for n in range(len(part.trials))
            ]
            self._budget.pay(part, mine)
            arm = asked[i][0].arm
            arm.steps += sum(episode.steps for episode in mine if episode is not None)
            arm.evaluations += len(mine)
            episodes[i] += mine
        return episodes


def _gain(new: Evidence, old: Evidence) -> bool:
    """Whether one is better by more than the standard error of the difference."""
    found = new.paired_difference(old)
    if any(found.successes):
        return sum(found.successes) > 0
    return found.mean > max(0.0, found.standard_error) if len(found.returns) > 1 else found.mean > 0


def make_arm(start: Start, seed: int, seeds: SeedSource, budget: StepBudget) -> Arm | None:
    """Return the search for a candidate; None if it has nothing to tune."""
    if start.program.table is not None and start.program.actions:
        from promptpo.features.tuning.tabular import TableSearch

        return TableSearch(start, seeds, budget)
    if any(high > low for _, low, high in start.program.params.values()):
        return CmaSearch(start, seed, seeds, budget)
    return None


def affordable_arms(arms: Sequence[Arm], steps: int) -> list[Arm]:
    """Return the searches that the steps pay for, in order; at least one.

    A candidate with n numbers needs about n generations to come close to its best; if a race does not leave each that many, one
    alone does better.
    """
    for n in range(len(arms), 1, -1):
        generation = sum(arm.length * arm.population for arm in arms[:n])
        if steps / generation >= max(arm.size for arm in arms[:n]):
            return list(arms[:n])
    return list(arms[:1])
