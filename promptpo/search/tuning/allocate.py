"""The budget policy of tuning, in one place: who gets how many steps."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from promptpo.search.tuning.archive import mean_or_worst
from promptpo.search.tuning.batches import (
    NO_PEAK,
    Batch,
    Finalist,
    SeedSource,
    Start,
    Tuned,
    return_of,
    steps_of,
)
from promptpo.search.tuning.clock import SHORTEST, Clock
from promptpo.search.tuning.cma_search import CmaSearch
from promptpo.search.tuning.evolution import Generation, RuleSearch, grows
from promptpo.search.tuning.first_look import FirstLook
from promptpo.search.tuning.foresight import IDLE_LOOKS, Foresight
from promptpo.search.tuning.tabular import TableSearch
from promptpo.search.tuning.target import Proof
from sandbox import Trial

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from sandbox import Episode, Rollout

LANES = 8
"""Trials in one batch for a worker: few enough that a generation keeps several workers busy."""

SHORT_EPISODES = 50
"""Episodes of fewer steps are cheaper than sending them somewhere: a worker's batch has eight times as many."""

HALVING, CHOOSING = 0.25, 0.5
"""Shares of the budget after which the worse half of the structures is given up, and one is left."""

FINALISTS = 5
MOST_LOOKS = 20
LOOK_STEPS = 2000
"""Later looks at fewer finalists take more episodes, where so many steps pay for them."""

ALONE = 0.1
"""Where there is a target to reach and lasting longer is all there is, the most promising structure alone gets this share of the budget: the
simplest one may do, and is found sooner by itself."""

CHOICE_SEED = 500_000
"""The final choice uses training seeds from here on."""

NOTHING_FOUND = "tuning found no parameter values with which every episode runs to its end"

Arm: TypeAlias = CmaSearch | TableSearch | RuleSearch
"""One structure being tuned."""

T = TypeVar("T")
Steps: TypeAlias = "Generator[Sequence[Batch], Sequence[Rollout], T]"
"""Work that yields what is to be rolled out and is sent the rollouts."""


class Tuning:
    """Tunes the numbers of one or several candidates inside a step budget.

    The structures race by successive halving (Jamieson and Talwalkar, "Non-stochastic Best Arm
    Identification and Hyperparameter Optimization", 2016): all of them run one generation after the
    other, at the same horizon; after each quarter of the budget, or sooner where there are many, the
    worse half is given up, until at half of the budget one is left. Halving rather than a finer bandit,
    because the score of a structure rises while it is tuned, so that early scores are no samples of a
    fixed mean; soon, because good structures differ less than good numbers from poor ones. Ties go to the
    structure that came first, and a small budget to the first alone (`entrants`). The final choice among the
    elites is made at the full horizon, on training seeds that tuning has not used.

    A tuning that has to earn its steps (`earning`) begins with a `FirstLook` at all structures, which decides
    who races; it ends there where the numbers make no difference, and later where two looks in a row at whole
    episodes show no gain (`Foresight`). What it does not need is not spent, and what never gained is not chosen.

    It does no input or output: roll `batches` out, all of which may run at once, give the rollouts to `step`
    in the same order, and go on until there are no more. `result` may be asked for at any time, so that what
    an interrupted tuning has found is not lost. With the same arguments and rollouts the batches are the same.

    ```python
    tuning = Tuning(starts, steps=100_000, seeds=seeds, horizon=1000, seed=0)
    while tuning.batches:
        tuning.step([roll_out(batch) for batch in tuning.batches])
    best = tuning.result()
    ```

    Args:
        starts: The candidates, the most promising first; those without ``PARAMS`` or ``TABLE`` come back as
            they are, and of several that are the same program all but the first.
        steps: Environment steps that may be taken in all; kept as long as episodes do not suddenly
            become more than twice as long as any before.
        seeds: Source of training seeds.
        horizon: Full episode length; None where episodes end by themselves.
        seed: Decides everything random.
        target: Stop early when the best vector's mean return reaches this.
        earning: End early what gains nothing, rather than spend all steps.

    Attributes:
        batches: What is to be rolled out next; empty at the end.
    """

    def __init__(
        self,
        starts: Sequence[Start],
        *,
        steps: int,
        seeds: SeedSource,
        horizon: int | None,
        seed: int,
        target: float | None = None,
        earning: bool = False,
    ) -> None:
        self._starts, self._earning = starts, earning
        self._seeds, self._target = seeds, target
        arms = [arm for i, start in distinct(starts) if (arm := arm_of(start, seed + i, seeds)) is not None]
        self._racing = list(arms) if earning or not arms else entrants(arms, steps, horizon)
        self._alive = list(self._racing)
        self._choice: _Choosing | None = None
        self._closing = self._for_nothing = False
        self._clock = Clock(steps, horizon, sum(arm.population for arm in self._racing))
        self._foresight = Foresight(self._clock, seeds, earning=earning)
        self._proof = Proof(self._clock, seeds, target) if target is not None else None
        self._search = self._run()
        self.batches: Sequence[Batch] = next(self._search, ())

    def step(self, rollouts: Sequence[Rollout]) -> None:
        """Learn from the rollouts of `batches`, in their order, and decide what comes next."""
        try:
            self.batches = self._search.send(rollouts)
        except StopIteration:
            self.batches = ()

    def finish(self) -> None:
        """End the search: after the present batches only the final choice follows."""
        self._closing = True

    @property
    def gaining(self) -> bool:
        """Whether the latest look at whole episodes showed a gain beyond noise."""
        return self._foresight.gains > 0 and self._foresight.idle == 0

    def result(self) -> tuple[Tuned, ...]:
        """One result per start, in the same order: the final ones at the end, before it the best so far.

        A candidate that is not known to be better than it was comes back as it was.
        """
        leader = max(self._alive, key=lambda arm: arm.score(), default=None)
        results = {}
        for start in self._starts:
            arm = next((arm for arm in self._racing if arm.start is start), None)
            if arm is None:
                results[start.id] = Tuned(start.id, start.program, score=start.score)
            elif self._for_nothing:
                results[start.id] = unchanged(arm, nothing_better(arm))
            elif arm is leader:
                results[start.id] = self._choice.result() if self._choice else best_of_search(arm)
            else:
                note = f"tuning gave it up after {arm.steps} steps for a structure that did better"
                results[start.id] = unchanged(arm, note)
        return tuple(self._judged(self._noted(results[start.id]), leader) for start in self._starts)

    def _judged(self, tuned: Tuned, leader: Arm | None) -> Tuned:
        """With how much was tried, and what came of it in a word."""
        arm = next((arm for arm in self._racing if arm.start.id == tuned.id), None)
        if arm is None:
            return tuned
        peak = arm.peak if isinstance(arm, CmaSearch) else NO_PEAK
        told = replace(tuned, evaluations=arm.evaluations, peak=peak)
        if tuned.program is not arm.start.program:
            return replace(told, outcome="better")
        if not self._for_nothing and arm is not leader:
            return replace(told, outcome="given up")
        if arm.evaluations and not arm.ran:
            return replace(told, outcome="nothing ran")
        return replace(told, outcome="alike" if arm.flat else "none")

    def _noted(self, tuned: Tuned) -> Tuned:
        """With what short episodes promised and whole ones gave."""
        seen, leader = self._foresight.seen, self._foresight.leader
        if not self._earning or seen is None or leader is None or leader.start.id != tuned.id:
            return tuned
        steps, short, whole = seen
        note = f"in episodes of {steps:,} steps tuning saw {short:.4g}, in whole ones {whole:.4g}"
        return replace(tuned, notes=(*tuned.notes, note))

    def _run(self) -> Steps[None]:
        if not self._racing:
            return
        if self._earning:
            yield from self._first_look()
        yield from self._race(self._foresight)
        if self._earning:
            self._clock.close()
            self._for_nothing = self._for_nothing or self._alive[0].best() is None
        if not self._for_nothing and not self._choice:
            yield from self._choose(self._alive[0])

    def _first_look(self) -> Steps[None]:
        """Tune all structures briefly; those that the budget pays for go on, the best by this look first."""
        clock, look = self._clock, FirstLook(self._alive, self._clock)
        while not self._closing and look.due():
            rolled = yield from self._roll(look.asks())
            for arm, episodes in zip(look.arms, rolled, strict=True):
                arm.tell(episodes)
        self._alive = entrants(look.ranked(), clock.steps, clock.horizon)
        clock.population = sum(arm.population for arm in self._alive)
        self._for_nothing = look.flat and clock.spent > 0

    def _race(self, foresight: Foresight) -> Steps[None]:
        """Run generations until the search budget is spent and one structure is left."""
        if self._for_nothing:
            return
        clock = self._clock
        rungs = math.ceil(math.log2(len(self._alive)))
        apart = min(HALVING, CHOOSING / max(1, rungs))
        rung = 0
        while clock.fraction < 1 and any(not arm.finished for arm in self._alive):
            if rung < rungs and clock.fraction >= apart * (rung + 1):
                rung += 1
                self._keep(math.ceil(len(self._alive) / 2))
                clock.population = sum(arm.population for arm in self._alive)
                continue
            leader = max(self._alive, key=lambda arm: arm.score())
            if isinstance(leader, CmaSearch) and foresight.due():
                looks = yield from self._roll(foresight.asks(leader))
                foresight.tell(leader, looks)
            if self._earning and (self._closing or foresight.idle >= IDLE_LOOKS):
                self._for_nothing = not foresight.gains and foresight.idle >= IDLE_LOOKS
                break
            running = [arm for arm in self._alive if not arm.finished]
            alone = self._proof is not None and not self._earning and clock.fraction < ALONE
            clock.cheap = alone and (clock.spent == 0 or clock.lasting)
            running = running[:1] if clock.cheap else running
            asks = [arm.ask(clock) for arm in running]
            if clock.cost(sum(len(ask.trials) for ask in asks), clock.stage_horizon()) > clock.search_left:
                break
            batches = yield from self._roll(asks)
            for arm, episodes in zip(running, batches, strict=True):
                arm.tell(episodes)
            if all(arm.short_sighted for arm in running) and not clock.failing:
                clock.lengthen()
            yield from self._prove(running)
            if self._reached():
                break
        self._keep(1)

    def _reached(self) -> bool:
        """Whether the target is."""
        if self._target is None:
            return False
        return self._choice is not None or any(arm.reached(self._target) for arm in self._alive)

    def _prove(self, arms: Sequence[Arm]) -> Steps[None]:
        """Whole episodes of what may have reached the target; once it has, nothing is left to choose."""
        if self._proof is None:
            return
        leader = max(arms, key=lambda arm: arm.score())
        while isinstance(leader, CmaSearch) and (batch := self._proof.ask(leader)) is not None:
            (episodes,) = yield from self._roll([batch])
            self._proof.tell(episodes)
            if self._proof.reached is not None:
                _, finalist, returns = self._proof.reached
                self._alive = [leader]
                self._choice = _Choosing(leader, [finalist])
                self._choice.returns[0] += returns
                return

    def _keep(self, n: int) -> None:
        """Give up all but the best structures."""
        self._alive = sorted(self._alive, key=lambda arm: arm.score(), reverse=True)[:n]

    def _choose(self, arm: Arm) -> Steps[None]:
        """The final choice: half of the finalists after each look, on fresh seeds, at the full horizon."""
        clock = self._clock
        episodes = clock.left // max(1, clock.cost(1, clock.horizon))
        finalists = arm.finalists(min(FINALISTS, max(2, episodes // 2)))
        choice = self._choice = _Choosing(arm, finalists)
        alive = choice.alive
        used, looks = 0, MOST_LOOKS
        while True:
            affordable = clock.left // max(1, clock.cost(len(alive), clock.horizon))
            if used:  # the fewer are left, the closer a look
                looks = max(MOST_LOOKS, min(4 * looks, int(LOOK_STEPS / max(1.0, clock.typical))))
            n = min(looks, max(min(1, affordable), affordable // 2) if len(alive) > 1 else affordable)
            if n < 1:
                break
            fresh = self._seeds(CHOICE_SEED + used, n)
            used += n
            asks = [
                Batch(
                    finalists[i].program, tuple(Trial(s, finalists[i].params, clock.horizon) for s in fresh)
                )
                for i in alive
            ]
            choice.tell((yield from self._roll(asks)))
            if len(alive) == 1 or choice.all_alike():
                break
            del alive[math.ceil(len(alive) / 2) :]

    def _roll(self, asks: Sequence[Batch | Generation]) -> Steps[list[list[Episode | None]]]:
        """Cut what structures ask for into smaller batches, and put the episodes together again, one per trial."""
        batches, owners = [], []
        lanes = 8 * LANES if 0 < self._clock.longest < SHORT_EPISODES else LANES
        for owner, ask in enumerate(asks):
            for batch in ask.split(lanes):
                batches.append(batch)
                owners.append(owner)
        rollouts = (yield batches) if batches else ()
        episodes: list[list[Episode | None]] = [[] for _ in asks]
        for owner, batch, rollout in zip(owners, batches, rollouts, strict=True):
            episodes[owner] += aligned(rollout, len(batch.trials))
            self._clock.add(rollout)
        return episodes


class _Choosing:
    """The final choice of one structure, as far as it has come.

    Args:
        arm: The structure.
        finalists: Its candidates, the most promising first.

    Attributes:
        alive: Places of those that are still in it, best first.
    """

    def __init__(self, arm: Arm, finalists: Sequence[Finalist]) -> None:
        self.arm, self.finalists = arm, finalists
        self.alive = list(range(len(finalists)))
        self.returns: list[list[float]] = [[] for _ in finalists]

    def tell(self, batches: Sequence[Sequence[Episode | None]]) -> None:
        """Take in one look at all that are in it."""
        for i, batch in zip(self.alive, batches, strict=True):
            self.arm.steps += steps_of(batch)
            self.returns[i] += map(return_of, batch)
        self.alive.sort(key=lambda i: mean_or_worst(self.returns[i]), reverse=True)

    def all_alike(self) -> bool:
        """Whether all that are in it have had one and the same return, so that more looks tell nothing."""
        return len({one for i in self.alive for one in self.returns[i]}) == 1

    def result(self) -> Tuned:
        """The winner; before the first look, what search found."""
        best = self.alive[0]
        if not self.returns[best]:
            return best_of_search(self.arm)
        score = mean_or_worst(self.returns[best])
        if not math.isfinite(score):
            return unchanged(self.arm, NOTHING_FOUND)
        return self.arm.tuned(self.finalists[best], score)


def best_of_search(arm: Arm) -> Tuned:
    """A structure's result without a final choice: what its search measured as better than the original."""
    found = arm.best()
    if found is None:
        return unchanged(arm, nothing_better(arm))
    return arm.tuned(*found)


def unchanged(arm: Arm, note: str) -> Tuned:
    """A structure as it came."""
    start = arm.start
    notes = (note,) if note and arm.steps else ()
    sensitivity = arm.sensitivity(start.program.values or {}) if isinstance(arm, CmaSearch) else {}
    return Tuned(start.id, start.program, {}, start.score, arm.steps, notes, sensitivity)


def nothing_better(arm: Arm) -> str:
    """A remark on a tuning in vain."""
    if arm.evaluations and not arm.ran:
        return NOTHING_FOUND
    told = "all parameter values that were tried scored alike" if arm.flat else "nothing better"
    return f"tuned {arm.evaluations:,} evaluations: {told}"


def distinct(starts: Sequence[Start]) -> list[tuple[int, Start]]:
    """The starts with their places, each program once."""
    first: dict[str, tuple[int, Start]] = {}
    for i, start in enumerate(starts):
        first.setdefault(start.program.digest, (i, start))
    return list(first.values())


def arm_of(start: Start, seed: int, seeds: SeedSource) -> Arm | None:
    """The method for a candidate; None where it has nothing to tune."""
    if start.observation_space is not None and grows(start.program.source):
        return RuleSearch(start, seed, seeds)
    if start.program.table is not None and start.program.actions:
        return TableSearch(start, seeds)
    if any(high > low for _, low, high in start.program.params.values()):
        return CmaSearch(start, seed, seeds)
    return None


def entrants(arms: Sequence[Arm], steps: int, horizon: int | None) -> list[Arm]:
    """The structures that the budget pays for, in their order; at least one.

    A structure with n numbers needs about n generations to come near to what it can do. Where a race does
    not leave each so many, in short episodes, it ends with a structure whose numbers are poor, and one alone
    does better: on HalfCheetah, with 131,072 steps, 1,528 against 1,353 and 1,550 against 1,275 (two pairs of
    structures, training seeds 300 to 309).
    """
    length = min(SHORTEST, horizon or SHORTEST)
    for n in range(len(arms), 1, -1):
        generations = steps / (length * sum(arm.population for arm in arms[:n]))
        if generations >= max(arm.size for arm in arms[:n]):
            return list(arms[:n])
    return list(arms[:1])


def aligned(rollout: Rollout, trials: int) -> list[Episode | None]:
    """One entry per trial: its episode, or None where it has none."""
    finished = iter(rollout.episodes)
    return [None if i in rollout.unfinished else next(finished, None) for i in range(trials)]
