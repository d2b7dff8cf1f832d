"""The budget policy of tuning, in one place: who gets how many steps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

from promptpo.program.literals import read_actions, read_params, read_table
from promptpo.search.tuning.archive import mean_or_worst
from promptpo.search.tuning.clock import SHORTEST, Clock
from promptpo.search.tuning.cma_search import CmaSearch
from promptpo.search.tuning.foresight import Foresight
from promptpo.search.tuning.jobs import Ask, Job, SeedSource, Start, Tuned, return_of, steps_of
from promptpo.search.tuning.tabular import TableSearch
from sandbox import Trial

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from sandbox import Episode, Rollout

LANES = 8
"""Trials in one job: few enough that a generation keeps several workers busy."""

SHORT_EPISODES = 50
"""Episodes of fewer steps are cheaper than sending them somewhere: a job has eight times as many."""

HALVING, CHOOSING = 0.25, 0.5
"""Shares of the budget after which the worse half of the structures is given up, and one is left."""

FINALISTS = 5
MOST_LOOKS = 20
LOOK_STEPS = 2000
"""Later looks at fewer finalists take more episodes, where so many steps pay for them."""

CHOICE_SEED = 500_000
"""The final choice uses training seeds from here on."""

Arm: TypeAlias = CmaSearch | TableSearch
"""One structure being tuned."""


def tune(
    starts: Sequence[Start],
    *,
    steps: int,
    seeds: SeedSource,
    horizon: int | None,
    seed: int,
    target: float | None = None,
) -> Generator[Sequence[Job], Sequence[Rollout], tuple[Tuned, ...]]:
    """Tune the numbers of one or several candidates inside a step budget.

    The structures race by successive halving (Jamieson and Talwalkar, "Non-stochastic Best Arm
    Identification and Hyperparameter Optimization", 2016): all of them run one generation after the
    other, at the same horizon; after each quarter of the budget, or sooner where there are many, the
    worse half is given up, until at half of the budget one is left. Halving rather than a finer bandit,
    because the score of a structure rises while it is tuned, so that early scores are no samples of a
    fixed mean; soon, because good structures differ less than good numbers from poor ones. Ties go to the
    structure that came first, and a small budget to the first alone (`entrants`). The final choice among the
    elites is made at the full horizon, on training seeds that tuning has not used.

    A generator without side effects: it yields jobs, all of which may run at once, and must be sent
    their rollouts in the same order. With the same arguments and rollouts it yields the same jobs.

    Args:
        starts: The candidates, the most promising first; those without ``PARAMS`` or ``TABLE`` come back as they are.
        steps: Environment steps that may be taken in all; kept as long as episodes do not suddenly
            become more than twice as long as any before.
        seeds: Source of training seeds.
        horizon: Full episode length; None where episodes end by themselves.
        seed: Decides everything random.
        target: Stop early when the best vector's mean return reaches this.

    Returns:
        One result per start, in the same order.
    """
    arms = [arm for i, start in enumerate(starts) if (arm := arm_of(start, seed + i, seeds)) is not None]
    results = {start.id: Tuned(start.id, start.source, score=start.score) for start in starts}
    if arms:
        racing = entrants(arms, steps, horizon)
        clock = Clock(steps, horizon, sum(arm.population for arm in racing))
        winners = yield from _race(racing, clock, Foresight(clock, seeds), target)
        for arm in winners:
            results[arm.start.id] = yield from _choose(arm, clock, seeds)
        for arm in racing:
            if arm not in winners:
                note = f"tuning gave it up after {arm.steps} steps for a structure that did better"
                kept = results[arm.start.id]
                results[arm.start.id] = Tuned(kept.id, kept.source, {}, kept.score, arm.steps, (note,))
    return tuple(results[start.id] for start in starts)


def arm_of(start: Start, seed: int, seeds: SeedSource) -> Arm | None:
    """The method for a candidate; None where it has nothing to tune."""
    if read_table(start.source) is not None and read_actions(start.source):
        return TableSearch(start, seeds)
    params = read_params(start.source)
    if any(high > low for _, low, high in params.values()):
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


def _race(
    arms: Sequence[Arm], clock: Clock, foresight: Foresight, target: float | None
) -> Generator[Sequence[Job], Sequence[Rollout], list[Arm]]:
    """Run generations until the search budget is spent; returns the structures that are left."""
    alive = list(arms)
    rungs = max(1, math.ceil(math.log2(len(arms)))) if len(arms) > 1 else 0
    apart = min(HALVING, CHOOSING / max(1, rungs))
    rung = 0
    while clock.fraction < 1 and any(not arm.finished for arm in alive):
        if rung < rungs and clock.fraction >= apart * (rung + 1):
            rung += 1
            alive = sorted(alive, key=lambda arm: arm.score(), reverse=True)[: math.ceil(len(alive) / 2)]
            clock.population = sum(arm.population for arm in alive)
            continue
        leader = max(alive, key=lambda arm: arm.score())
        if isinstance(leader, CmaSearch) and foresight.due():
            looks = yield from _roll(foresight.asks(leader), clock)
            foresight.tell(leader, looks)
        running = [arm for arm in alive if not arm.finished]
        asks = [arm.ask(clock) for arm in running]
        if clock.cost(sum(len(ask.trials) for ask in asks), clock.stage_horizon()) > clock.search_left:
            break
        batches = yield from _roll(asks, clock)
        for arm, episodes in zip(running, batches, strict=True):
            arm.tell(episodes)
        if all(arm.short_sighted for arm in running) and not clock.failing:
            clock.lengthen()
        if target is not None and any(arm.reached(target) for arm in alive):
            break
    return sorted(alive, key=lambda arm: arm.score(), reverse=True)[:1]


def _choose(arm: Arm, clock: Clock, seeds: SeedSource) -> Generator[Sequence[Job], Sequence[Rollout], Tuned]:
    """The final choice: half of the finalists after each look, on fresh seeds, at the full horizon."""
    episodes = clock.left // max(1, clock.cost(1, clock.horizon))
    finalists = arm.finalists(min(FINALISTS, max(1, episodes // 2)))
    returns: list[list[float]] = [[] for _ in finalists]
    alive = list(range(len(finalists)))
    used, looks = 0, MOST_LOOKS
    while True:
        affordable = clock.left // max(1, clock.cost(len(alive), clock.horizon))
        if used:  # the fewer are left, the closer a look
            looks = max(MOST_LOOKS, min(4 * looks, int(LOOK_STEPS / max(1.0, clock.typical))))
        n = min(looks, affordable // 2 if len(alive) > 1 else affordable)
        if n < 1:
            break
        fresh = seeds(CHOICE_SEED + used, n)
        used += n
        asks = [
            Ask(finalists[i].source, tuple(Trial(s, finalists[i].params, clock.horizon) for s in fresh))
            for i in alive
        ]
        batches = yield from _roll(asks, clock)
        for i, batch in zip(alive, batches, strict=True):
            arm.steps += steps_of(batch)
            returns[i] += map(return_of, batch)
        alive.sort(key=lambda i: mean_or_worst(returns[i]), reverse=True)
        if len(alive) == 1 or len({one for i in alive for one in returns[i]}) == 1:
            break
        alive = alive[: math.ceil(len(alive) / 2)]
    best = alive[0]
    score = mean_or_worst(returns[best]) if returns[best] else arm.score()
    if not math.isfinite(score):
        note = "tuning found no parameter values with which every episode runs to its end"
        return Tuned(
            arm.start.id, arm.start.source, {}, arm.start.score, arm.steps, (note,) if arm.steps else ()
        )
    return arm.tuned(finalists[best], score)


def _roll(
    asks: Sequence[Ask], clock: Clock
) -> Generator[Sequence[Job], Sequence[Rollout], list[list[Episode | None]]]:
    """Cut what structures ask for into jobs, and put the episodes together again, one per trial."""
    jobs, owners = [], []
    lanes = 8 * LANES if 0 < clock.longest < SHORT_EPISODES else LANES
    for owner, ask in enumerate(asks):
        for i in range(0, len(ask.trials), lanes):
            jobs.append(Job(ask.source, ask.trials[i : i + lanes], ask.record))
            owners.append(owner)
    rollouts = yield jobs
    batches: list[list[Episode | None]] = [[] for _ in asks]
    for owner, job, rollout in zip(owners, jobs, rollouts, strict=True):
        batches[owner] += aligned(rollout, len(job.trials))
        clock.add(rollout)
    return batches


def aligned(rollout: Rollout, trials: int) -> list[Episode | None]:
    """One entry per trial: its episode, or None where it has none."""
    finished = iter(rollout.episodes)
    return [None if i in rollout.unfinished else next(finished, None) for i in range(trials)]
