"""Tuning: the numbers of one or several candidates, within a budget of steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from promptpo.core.returns import Evidence, Returns, selection_values
from promptpo.features.tuning.batches import WORST, Batch, Finalist, Purse, is_failed, score
from promptpo.features.tuning.numbers import CmaSearch
from promptpo.features.tuning.outcome import TuningResult
from promptpo.program import Program
from promptpo.rollouts.results import record_of
from promptpo_sandbox import Trial

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from promptpo.features.tuning.batches import Score, SeedSource, Start
    from promptpo.features.tuning.tabular import TableSearch
    from promptpo.rollouts.evaluation import EpisodeRecord
    from promptpo_sandbox import Episode, Rollout

LANES, SHORT_EPISODES = 8, 50
"""Trials in one batch for a worker, few enough that a generation keeps several workers busy; eight times as many where
episodes have fewer steps than this and are cheaper than sending them somewhere."""

SEARCH, RACE = 0.88, 0.5
"""Shares of the steps for the search, before the final choice, and of these for the structures that are given up."""

LOOK, BLOCK, FINALISTS, LAST = 4, 3, 5, 20
"""Whole episodes of a look, of a step of the final choice, those that meet in it, and the most episodes of each."""

MIN_GAIN_SHARE = 0.001
"""Expected gain of more episodes, as a share of the best's returns, below which the final choice is made."""

PROOF, PROOF_SHARE = (1, 2, 3, 4, 5), 0.1
"""Whole episodes, look by look, by which a target counts as reached, and the most that all proofs take of the steps."""

LOOK_SEED, CHOICE_SEED = 450_000, 500_000
"""Looks and the final choice use training seeds from these on."""

Arm: TypeAlias = "CmaSearch | TableSearch"
"""A search for one structure. `ask` gives the next generation, nothing where the steps do not pay for one, and `tell` learns from
it; after so many as `leg` says, `go_on` is told what whole episodes of the first of `finalists` showed."""

T = TypeVar("T")
Steps: TypeAlias = "Generator[Sequence[Batch], Sequence[Rollout], T]"
"""Work that yields what is to be rolled out and is sent the rollouts."""


@dataclass
class Contestant:
    """Where the search for one structure stands.

    Attributes:
        arm: The search.
        front: The best numbers by whole episodes; at first those that it came with.
        score: Theirs when they were last looked at.
        idle: Looks without a gain, one after the other.
    """

    arm: Arm
    front: Finalist
    score: Score = WORST
    idle: int = 0

    @property
    def original(self) -> Finalist:
        """The vector that the candidate came with."""
        return Finalist(self.arm.start.program, self.arm.start.program.values or {})


class Tuning:
    """Tunes the numbers of one or several candidates inside a step budget.

    Search goes in legs. After each the numbers that it believes in meet those in front in whole episodes on shared starts.
    A gain goes on; without one episodes become longer, or the search begins anew in a larger population, and after two in a
    row it ends. Several structures race in legs of the same size, after each of which the worse half is given up. In the end
    the finalists and the original meet on starts that nothing has used; the original stays unless another is better beyond
    noise.

    It does no input or output: roll `batches` out, all of which may run at once, give the rollouts to `step` in the same
    order, and go on until there are no more. `result` may be asked for at any time, so that what an interrupted tuning has
    found is not lost. With the same arguments and rollouts the batches are the same.

    ```python
    tuning = Tuning(starts, steps=100_000, seeds=seeds, horizon=1000, seed=0)
    while tuning.batches:
        tuning.step([roll_out(batch) for batch in tuning.batches])
    best = tuning.result()
    ```

    Args:
        starts: The candidates, the most promising first; those without ``PARAMS`` or ``TABLE`` come back as they are.
        steps: Environment steps that may be taken in all; kept as long as episodes do not suddenly become more than twice as
            long as any before.
        seeds: Source of training seeds.
        horizon: Full episode length, in steps.
        seed: Decides everything random.
        target: Stop when numbers reach this mean return.
        thorough: Spend all steps, which nobody needs later, rather than end where two looks show no gain.

    Attributes:
        batches: What is to be rolled out next; empty at the end.
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
        self._purse = Purse(steps, horizon)
        self._used = self._proven = 0
        self._tried: list[Finalist] = []
        self._found: Finalist | None = None
        arms = [
            arm
            for i, start in enumerate(starts)
            if (arm := arm_of(start, seed + i, seeds, self._purse)) is not None
        ]
        self._racing = [
            Contestant(arm, Finalist(arm.start.program, arm.start.program.values or {}))
            for arm in entrants(arms, steps)
        ]
        self._alive = list(self._racing)
        self._work = self._run()
        self.batches: Sequence[Batch] = next(self._work, ())

    def step(self, rollouts: Sequence[Rollout]) -> None:
        """Learn from the rollouts of `batches`, in their order, and decide what comes next."""
        try:
            self.batches = self._work.send(rollouts)
        except StopIteration:
            self.batches = ()

    def result(self) -> tuple[TuningResult, ...]:
        """One result per start, in the same order: the final ones at the end, before it what is in front so far."""
        return tuple(self._result(start) for start in self._starts)

    def _result(self, start: Start) -> TuningResult:
        contestant = next((contestant for contestant in self._racing if contestant.arm.start is start), None)
        if contestant is None:
            return TuningResult(start.id, start.program)
        if contestant is not self._alive[0]:
            return replace(contestant.arm.report_unchanged(), outcome="given up")
        finalist = self._found or self._so_far(contestant)
        return (
            contestant.arm.report_unchanged()
            if finalist == contestant.original
            else contestant.arm.report_tuned(finalist)
        )

    @staticmethod
    def _so_far(contestant: Contestant) -> Finalist:
        """Return what an interrupted search believes in."""
        believed = [] if contestant.front != contestant.original else contestant.arm.finalists()
        return believed[0] if believed else contestant.front

    def _run(self) -> Steps[None]:
        """The search, and the final choice where there is something to choose from."""
        purse, alive = self._purse, self._alive
        if not alive:
            return
        yield from self._whole(
            [(contestant, contestant.front) for contestant in alive], 1
        )  # to know how long episodes are
        purse.kept = max(round((1 - SEARCH) * purse.steps), min(purse.cost(2 * BLOCK), purse.steps // 2))
        rungs = math.ceil(math.log2(len(alive)))
        while any(self._goes_on(contestant) for contestant in alive):
            share = RACE * SEARCH * purse.steps / (rungs * len(alive)) if len(alive) > 1 else math.inf
            paid, before = True, purse.spent
            for contestant in alive:
                paid = yield from self._leg(contestant, share)
            if self._found or (len(alive) == 1 and not paid):
                break
            leg, look = purse.spent - before, purse.cost(2 * LOOK * len(alive))
            late = len(alive) == 1 and look + leg / 2 > purse.left  # to be of use for what follows
            if look > purse.left or (late and alive[0].arm.finished):
                break
            if late:
                continue
            yield from self._look()
            alive.sort(key=lambda contestant: contestant.score, reverse=True)
            del alive[math.ceil(len(alive) / 2) :]
        if not self._found:
            yield from self._choose(alive[0])

    def _goes_on(self, contestant: Contestant) -> bool:
        """Whether a search is worth more steps."""
        patience = contestant.arm.patience
        return (
            not contestant.arm.finished if patience is None else self._thorough or contestant.idle < patience
        )

    def _leg(self, contestant: Contestant, share: float) -> Steps[bool]:
        """Some generations of one structure; returns whether the steps paid for them."""
        end = self._purse.spent + share
        for _ in range(contestant.arm.leg):
            if contestant.arm.finished or self._purse.spent >= end:
                break
            batches = contestant.arm.ask(self._purse)
            if not batches:
                return False
            contestant.arm.tell(
                [
                    episode
                    for part in (yield from self._roll([(contestant, b) for b in batches]))
                    for episode in part
                ]
            )
            if self._target is not None and (yield from self._prove(contestant, self._target)):
                break
        return True

    def _look(self) -> Steps[None]:
        """Whole episodes of what is in front and of what the searches believe in, all on the same starts."""
        pairs = [
            (contestant, finalist)
            for contestant in self._alive
            for finalist in (contestant.front, contestant.arm.finalists()[0])
        ]
        played = yield from self._whole(pairs, LOOK)
        for i, contestant in enumerate(self._alive):
            (old, old_score), (new, new_score) = played[2 * i : 2 * i + 2]
            gained = new_score > WORST and (old_score == WORST or _gain(new, old))
            contestant.front, contestant.score = (
                (pairs[2 * i + 1][1], new_score) if gained else (contestant.front, old_score)
            )
            contestant.idle = 0 if gained else contestant.idle + 1
            contestant.arm.go_on(contestant.front, gained=gained)

    def _choose(self, contestant: Contestant) -> Steps[None]:
        """The final choice: the original stays unless another is better beyond noise; a library's has no such right."""
        purse, arbitrary = self._purse, contestant.arm.start.arbitrary
        purse.kept = 0
        if contestant.front == contestant.original and contestant.idle >= (
            contestant.arm.patience or math.inf
        ):
            self._found = contestant.original
            return
        found = [
            contestant.original,
            *(f for f in (contestant.front, *contestant.arm.finalists()) if f != contestant.original),
        ]
        paid = purse.left // purse.cost(BLOCK)
        finalists = [f for i, f in enumerate(found) if f not in found[:i]][: min(FINALISTS, paid)]
        if len(finalists) < 2:  # noqa: PLR2004 - nothing shows that others are better
            self._found = self._so_far(contestant) if arbitrary and len(found) > 1 else contestant.original
            return
        played: dict[str, list[EpisodeRecord]] = {str(n): [] for n in range(len(finalists))}
        alive, best, used = list(played), "0", 0
        while used < LAST and purse.cost(BLOCK * len(alive)) <= purse.left and len(alive) > 1:
            seeds = self._seeds(CHOICE_SEED + used, BLOCK)
            used += BLOCK
            rolled = yield from self._roll(
                [(contestant, self._whole_of(finalists[int(n)], seeds)) for n in alive]
            )
            for n, episodes in zip(alive, rolled, strict=True):
                if any(map(is_failed, episodes)):
                    del played[n]
                else:
                    played[n] += [record_of(e) for e in episodes if e is not None]
            model = Returns(selection_values(played))
            best = max(model.programs, key=lambda n: model.of(n).mean, default="0")
            size = MIN_GAIN_SHARE * max((abs(e.return_) for e in played.get(best, ())), default=0.0)
            open_ = [n for n in played if n != best and model.difference(n, best).gain > size]
            unproven = best != "0" and "0" in played and not model.difference(best, "0").verdict
            alive = [n for n in played if n == best or n in open_ or (n == "0" and unproven)]
        better = best != "0" and (arbitrary or "0" not in played or model.difference(best, "0").verdict > 0)
        self._found = finalists[int(best)] if better else contestant.original

    def _prove(self, contestant: Contestant, target: float) -> Steps[bool]:
        """Whole episodes of what may have reached the target; returns whether it has."""
        finalist = contestant.arm.hopeful(target)
        if finalist is None or finalist in self._tried:
            return False
        self._tried.append(finalist)
        evidence = Evidence()
        for n in PROOF:
            if self._proven > PROOF_SHARE * self._purse.steps or self._purse.cost(n) > self._purse.left:
                return False
            before = self._purse.spent
            ((more, score),) = yield from self._whole([(contestant, finalist)], n)
            self._proven += self._purse.spent - before
            evidence = Evidence.of(evidence.episodes, more.episodes)
            if score == WORST or evidence.mean_return < target:
                return False
        if not evidence.holds(target):
            return False
        self._alive.sort(key=lambda other: other is not contestant)
        self._found = finalist
        if contestant.arm.start.arbitrary:
            yield from self._drop_weak_numbers(contestant, finalist, evidence.mean_return)
        return True

    def _drop_weak_numbers(self, contestant: Contestant, longer: Finalist, known: float) -> Steps[None]:
        """Leave out the weakest number of a library's program as long as the others return as much."""
        from promptpo.features.program_search.library import leave_out, read_genome

        mine = read_genome(longer.program.source) is not None
        while mine and len(longer.params) > 1 and self._purse.cost(LOOK) <= self._purse.left:
            weakest = min(longer.params, key=lambda name: abs(longer.params[name]))
            kept = {name: value for name, value in longer.params.items() if name != weakest}
            longer = Finalist(Program.from_source(leave_out(longer.program.source, weakest)), kept)
            ((_, score),) = yield from self._whole([(contestant, longer)], LOOK)
            if score[1] < known:
                return
            self._found = longer

    def _whole(
        self, finalists: Sequence[tuple[Contestant, Finalist]], n: int
    ) -> Steps[list[tuple[Evidence, Score]]]:
        """Whole episodes of several on the same starts, which nobody has played."""
        seeds = self._seeds(LOOK_SEED + self._used, n)
        self._used += n
        rolled = yield from self._roll(
            [(contestant, self._whole_of(f, seeds)) for contestant, f in finalists]
        )
        return [(Evidence.of(record_of(e) for e in part if e is not None), score(part)) for part in rolled]

    def _whole_of(self, finalist: Finalist, seeds: Sequence[int]) -> Batch:
        trials = (Trial(seed, finalist.params, self._purse.horizon) for seed in seeds)
        return Batch(finalist.program, tuple(trials))

    def _roll(self, asked: Sequence[tuple[Contestant, Batch]]) -> Steps[list[list[Episode | None]]]:
        """Cut batches into smaller ones, and put the episodes together again, one per trial."""
        lanes = LANES if self._purse.longest >= SHORT_EPISODES else 8 * LANES
        parts = [(i, part) for i, (_, batch) in enumerate(asked) for part in batch.split(lanes)]
        rollouts = yield [part for _, part in parts]
        episodes: list[list[Episode | None]] = [[] for _ in asked]
        for (i, part), rollout in zip(parts, rollouts, strict=True):
            finished = iter(rollout.episodes)
            mine = [
                None if n in rollout.unfinished else next(finished, None) for n in range(len(part.trials))
            ]
            self._purse.pay(part, mine)
            arm = asked[i][0].arm
            arm.steps += sum(episode.steps for episode in mine if episode is not None)
            arm.evaluations += len(mine)
            episodes[i] += mine
        return episodes


def _gain(new: Evidence, old: Evidence) -> bool:
    """Whether one is better by more than the error of the difference."""
    found = new.paired_difference(old)
    if any(found.successes):
        return sum(found.successes) > 0
    return found.mean > max(0.0, found.standard_error) if len(found.returns) > 1 else found.mean > 0


def arm_of(start: Start, seed: int, seeds: SeedSource, purse: Purse) -> Arm | None:
    """The method for a candidate; None where it has nothing to tune."""
    if start.program.table is not None and start.program.actions:
        from promptpo.features.tuning.tabular import TableSearch

        return TableSearch(start, seeds, purse)
    if any(high > low for _, low, high in start.program.params.values()):
        return CmaSearch(start, seed, seeds, purse)
    return None


def entrants(arms: Sequence[Arm], steps: int) -> list[Arm]:
    """The structures that the steps pay for, in their order; at least one.

    A structure with n numbers needs about n generations to come near to what it can do; where a race does not leave
    each so many, one alone does better.
    """
    for n in range(len(arms), 1, -1):
        generation = sum(arm.length * arm.population for arm in arms[:n])
        if steps / generation >= max(arm.size for arm in arms[:n]):
            return list(arms[:n])
    return list(arms[:1])
