"""The budget policy of tuning, in one place: who gets how many steps."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from promptpo.search.tuning.arms import Arm, arm_of, distinct, entrants
from promptpo.search.tuning.batches import Batch, Finalist, SeedSource, Start, Tuned
from promptpo.search.tuning.choosing import FINALISTS, FinalChoice
from promptpo.search.tuning.clock import Clock
from promptpo.search.tuning.cma_search import CmaSearch
from promptpo.search.tuning.first_look import FirstLook
from promptpo.search.tuning.foresight import EPISODES, IDLE_LOOKS, Foresight
from promptpo.search.tuning.outcomes import TuningResults
from promptpo.search.tuning.target import Proof

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from sandbox import Episode, Rollout

LANES = 8
"""Trials in one batch for a worker: few enough that a generation keeps several workers busy."""

SHORT_EPISODES = 50
"""Episodes of fewer steps are cheaper than sending them somewhere: a worker's batch has eight times as many."""

HALVING, CHOOSING = 0.25, 0.5
"""Shares of the budget after which the worse half of the structures is given up, and one is left."""

ALONE = 0.1
"""Where there is a target to reach and lasting longer is all there is, the most promising structure alone gets this share of the budget: the
simplest one may do, and is found sooner by itself."""

LEG, LEG_SHARE = 30, 0.5
"""Where the steps buy nothing else, what is left after a search in vain is searched elsewhere: in legs of half of it,
and of at least so many whole episodes."""

Elsewhere = Literal["nowhere", "others", "anywhere"]
"""Where a tuning that has to earn its steps goes on where one search gains nothing more."""

SEEN = 3
"""A look at whole episodes takes no more than one in so many of the steps that are left."""

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

    A tuning that has to earn its steps (`earning`) begins with a `FirstLook` at all structures, after which whole
    episodes decide who races; it ends there where the numbers make no difference, and later where two looks in a row
    at whole episodes show no gain (`Foresight`). What it does not need is not spent, and what never gained is not
    chosen. What one search does not need may go `elsewhere`: to the structures that were left out, each once, and
    where nothing else could use the steps to other basins of the best one as well.

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
        elsewhere: Where to go on where one search gains nothing more. "others": each structure that was left out has its
            turn, and new ones have half of the steps beside one that is tuned `again`; "anywhere": other basins of the
            best one as well, where nothing else can use the steps.

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
        elsewhere: Elsewhere = "nowhere",
    ) -> None:
        self._starts, self._earning = starts, earning
        self._last, self._others = elsewhere == "anywhere", elsewhere == "others"
        self._seeds, self._target = seeds, target
        arms = [arm for i, start in distinct(starts) if (arm := arm_of(start, seed + i, seeds)) is not None]
        self._racing = list(arms) if earning or not arms else entrants(arms, steps, horizon)
        self._alive = list(self._racing)
        self._choice: FinalChoice | None = None
        self._closing = self._for_nothing = self._flat = self._far = False
        self._searched: list[Arm] = []
        self._waiting: Arm | None = None
        self._legs = self._gains_before = 0
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
        return TuningResults(
            racing=self._racing,
            leader=self._choice.arm if self._choice else max(self._alive, key=self._worth, default=None),
            choice=self._choice,
            foresight=self._foresight if self._earning else None,
            worth=self._worth,
            for_nothing=self._for_nothing,
        ).of(self._starts)

    def _run(self) -> Steps[None]:
        if not self._racing:
            return
        if self._earning:
            yield from self._first_look()
        if self._contested():
            self._clock.begin_leg(round(LEG_SHARE * self._clock.all_left))
        yield from self._race(self._foresight)
        while self._goes_on():
            self._begin_leg()
            yield from self._race(self._foresight)
        in_vain = self._foresight.idle >= IDLE_LOOKS and not self._foresight.gains and not self._last
        if self._earning:
            self._clock.close(in_vain=in_vain)
        finalists = self._finalists(in_vain=in_vain)
        self._for_nothing = self._for_nothing or not finalists
        if not self._for_nothing and not self._choice:
            yield from self._choose(finalists)

    def _first_look(self) -> Steps[None]:
        """Tune all structures briefly; those that the budget pays for go on, the best in whole episodes first."""
        clock, look = self._clock, FirstLook(self._alive, self._clock)
        while not self._closing and look.due():
            rolled = yield from self._roll(look.asks())
            for arm, episodes in zip(look.arms, rolled, strict=True):
                arm.tell(episodes)
        cut = [arm for arm in look.arms if isinstance(arm, CmaSearch) and not arm.whole]
        if len(look.arms) > 1 and cut and not look.flat and not self._closing:
            rolled = yield from self._roll(asks := self._foresight.first_asks(cut))
            if asks:
                self._foresight.first_tell(cut, rolled)
        self._alive = entrants(sorted(look.arms, key=self._promise, reverse=True), clock.steps, clock.horizon)
        clock.population = sum(arm.population for arm in self._alive)
        self._for_nothing = self._flat = look.flat and clock.spent > 0

    def _promise(self, arm: Arm) -> float:
        """What is known of a structure after a brief tuning; tables, which begin by exploring, stay in front."""
        return self._worth(arm) if isinstance(arm, CmaSearch) else math.inf

    def _worth(self, arm: Arm) -> float:
        """How good a structure is: in whole episodes where tuning has to earn its steps, else in those it plays."""
        if not self._earning or not isinstance(arm, CmaSearch):
            return arm.score()
        known = self._foresight.promise(arm)
        if not math.isfinite(known):
            return arm.score()
        return max(known, arm.score()) if arm.whole else known

    def _race(self, foresight: Foresight) -> Steps[None]:
        """Run generations until the search budget, or its present leg, is spent and one structure is left."""
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
                break
            running = [arm for arm in self._alive if not arm.finished]
            alone = self._proof is not None and not self._earning and clock.fraction < ALONE
            clock.cheap = alone and (clock.spent == 0 or clock.lasting)
            running = running[:1] if clock.cheap else running
            asks = [arm.ask(clock) for arm in running]
            if not (yield from self._generation(running, asks)):
                break
            if all(arm.short_sighted for arm in running) and not clock.failing:
                clock.lengthen()
            yield from self._prove(running)
            if self._reached():
                break
        self._keep(1)

    def _generation(self, arms: Sequence[Arm], asks: Sequence[Batch]) -> Steps[bool]:
        """Roll a generation out and learn from it; returns whether the steps paid for it.

        One that is too long in the worst case comes a few episodes at a time where what is left buys nothing else: most
        episodes are far shorter than the longest.
        """
        arm, ask, clock = arms[0], asks[0], self._clock
        if clock.cost(sum(len(one.trials) for one in asks), clock.stage_horizon()) <= clock.all_left:
            batches = yield from self._roll(asks)
            for one, episodes in zip(arms, batches, strict=True):
                one.tell(episodes)
            return True
        if not self._last or len(arms) > 1 or not isinstance(arm, CmaSearch) or not isinstance(ask, Batch):
            return False
        done: list[Episode | None] = []
        while len(done) < len(ask.trials) and (n := clock.all_left // max(1, clock.cost(1, clock.horizon))):
            part = replace(ask, trials=ask.trials[len(done) : len(done) + n])
            (played,) = yield from self._roll([part])
            done += played
        if len(done) < len(ask.trials):
            arm.tell_part(done)
            return False
        arm.tell(done)
        return True

    def _goes_on(self) -> bool:
        """Whether what is left of the steps is searched elsewhere: nothing else can use it, and more is possible."""
        clock = self._clock
        if not self._earning or not (self._last or self._others):
            return False
        if self._closing or self._flat or self._reached():
            return False
        if clock.spent == clock.began:  # not even a generation could be paid
            return False
        arms = [arm for arm in self._racing if isinstance(arm, CmaSearch)]
        if not arms or max(arms, key=self._worth).level:
            return False
        if not self._last and not self._gained() and not self._left_out() and self._waiting is None:
            return False
        return clock.all_left >= self._least_leg()

    def _contested(self) -> bool:
        """Whether new structures race with one that is tuned again, which has half of the steps at first."""
        known = [arm.start.again for arm in self._racing if isinstance(arm, CmaSearch)]
        raced = self._others and any(known) and not all(known)
        return raced and self._clock.all_left >= 2 * self._least_leg()

    def _gained(self) -> bool:
        """Whether the present leg ended while it gained."""
        foresight, before = self._foresight, 0 if self._last else self._gains_before
        return foresight.gains > before and not foresight.idle and not self._alive[0].finished

    def _left_out(self) -> list[CmaSearch]:
        """The structures that have had no search of their own."""
        had = [*self._searched, *self._alive]
        return [arm for arm in self._racing if isinstance(arm, CmaSearch) and arm not in had]

    def _least_leg(self) -> int:
        clock = self._clock
        if self._last:
            return math.ceil(LEG * max(1.0, clock.typical))
        # what is left may be of use later: enough to see a gain will do
        mean = clock.spent / max(1, clock.episodes)
        return max(math.ceil(LEG * mean), SEEN * clock.cost(2 * EPISODES, clock.horizon))

    def _begin_leg(self) -> None:
        """Turn to the structure that was left out and promises most, or to another basin of the best one, in turn.

        A search that gained until its leg ended goes on as it is; one that is tuned again waits until new structures
        have had their turn.
        """
        clock, foresight = self._clock, self._foresight
        gained, others, front = self._gained(), self._left_out(), self._alive[0]
        left, least = clock.all_left, self._least_leg()
        clock.begin_leg(left if left < 2 * least else max(least, round(LEG_SHARE * left)))
        foresight.begin_leg()
        self._gains_before = foresight.gains
        if gained and (self._last or not front.start.again or not others):
            return
        self._searched += [arm for arm in self._alive if arm not in self._searched]
        self._waiting = front if gained else self._waiting
        self._legs += 1
        arms = [arm for arm in self._racing if isinstance(arm, CmaSearch)]
        if others and (self._legs % 2 or not self._last):
            self._alive = [max(others, key=self._worth)]
        elif not self._last and self._waiting is not None:
            self._alive, self._waiting = [self._waiting], None
        else:
            best = max(arms, key=self._worth)
            best.begin_elsewhere(foresight.proven(best), far=self._far)
            self._far, self._alive = not self._far, [best]
        clock.population = sum(arm.population for arm in self._alive)

    def _finalists(self, *, in_vain: bool) -> list[Arm]:
        """The structures whose vectors meet in the final choice, the most promising first."""
        if not self._earning:
            return self._alive[:1]
        searched = [*self._alive, *(arm for arm in self._searched if arm not in self._alive)]
        found = [
            arm
            for arm in searched
            if (arm.best() is not None and not in_vain) or (isinstance(arm, CmaSearch) and arm.outstanding)
        ]
        return sorted(found, key=self._worth, reverse=True)[: FINALISTS - 1]

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
                self._choice = FinalChoice([(leader, finalist)], self._clock, self._seeds)
                self._choice.returns[0] += returns
                return

    def _keep(self, n: int) -> None:
        """Give up all but the best structures."""
        self._alive = sorted(self._alive, key=self._worth, reverse=True)[:n]

    def _choose(self, arms: Sequence[Arm]) -> Steps[None]:
        """The final choice among the best vectors of one structure, or of several."""
        clock = self._clock
        episodes = clock.left // max(1, clock.whole_cost(1))
        most = min(FINALISTS, max(2, episodes // 2))
        own = most if len(arms) == 1 else max(2, most - len(arms) + 1)
        finalists = [(arms[0], one) for one in self._own_finalists(arms[0], own)]
        finalists += [(arm, one) for arm in arms[1:] for one in arm.finalists(1)]
        choice = self._choice = FinalChoice(finalists[:most], clock, self._seeds)
        while batches := choice.ask():
            choice.tell((yield from self._roll(batches)))

    def _own_finalists(self, arm: Arm, n: int) -> list[Finalist]:
        """Of one structure: what whole episodes have proven, which its search may have lost sight of, then its own choice."""
        if not isinstance(arm, CmaSearch) or not self._earning:
            return arm.finalists(n)
        proven = [self._foresight.proven(arm), arm.whole_episodes.steady()]
        front = [Finalist(arm.start.program, one) for one in proven if one and one != arm.space.defaults]
        if not front:
            return arm.finalists(n)
        own = [Finalist(arm.start.program, arm.space.defaults), *arm.finalists(n)]
        found: list[Finalist] = []
        for one in (*front, *own):
            found += [] if one in found else [one]
        return found[:n]

    def _roll(self, asks: Sequence[Batch]) -> Steps[list[list[Episode | None]]]:
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


def aligned(rollout: Rollout, trials: int) -> list[Episode | None]:
    """One entry per trial: its episode, or None where it has none."""
    finished = iter(rollout.episodes)
    return [None if i in rollout.unfinished else next(finished, None) for i in range(trials)]
