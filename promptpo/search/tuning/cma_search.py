"""CMA-ES over the declared parameters of one policy, with noise handling and restarts.

The optimizer is the ``cma`` package (Hansen, "The CMA Evolution Strategy: A Tutorial", 2016); what is
ours is how a noisy return becomes a ranking: common seeds inside a generation, elites that are
evaluated again on fresh seeds, more seeds where noise hides the differences, larger populations after a
stall (Auger and Hansen, "A Restart CMA Evolution Strategy With Increasing Population Size", 2005).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from promptpo.run.evidence import SMALL
from promptpo.run.records import Sensitivity
from promptpo.search.tuning.archive import Archive, Elite, mean_or_worst
from promptpo.search.tuning.batches import NO_PEAK, Batch, Finalist, Tuned, return_of, steps_of
from promptpo.search.tuning.distribution import distribution, first_step
from promptpo.search.tuning.found import moved, tuned_to
from promptpo.search.tuning.peaks import Peaks
from promptpo.search.tuning.sensitivity import Trials
from promptpo.search.tuning.space import ParamSpace
from sandbox import Trial

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from promptpo.search.tuning.batches import Episodes, SeedSource, Start
    from promptpo.search.tuning.clock import Clock
    from promptpo.search.tuning.space import Vector

FIRST_SEED = 1000
"""Tuning starts at this training seed: the earlier ones measure the candidates themselves."""

MOST_SEEDS = 16
SEED_BLOCK = 64
CHEAP_SEEDS = 2
ENOUGH_GENERATIONS = 150
"""Where the budget would pay for more generations than this, it buys more seeds per vector instead."""

WIDE_GENERATIONS, WIDE_VECTORS = 3, 24
"""Where lasting longer is all there is and bad vectors cost little, so many generations, after the first, come with
so many vectors from anywhere."""

ELITES_AGAIN = 2
RECHECKED = 12
"""An elite is evaluated again until it has this many returns."""

SMALLEST_STEP = 1e-3
"""A distribution narrower than this share of every range has converged."""

DULL = 3.0
"""So many generations, times the root of the number of parameters, without a better vector call for longer
episodes: what can be told apart at the present length has been."""

WIDEST_STEP = 0.5
"""Where no vector near the values a structure came with makes a difference, the whole ranges are tried."""

OUTSTANDING = 0.5
"""A whole episode is far better than the original numbers where it is so by more than this share of the returns' size; its
vector is tried again before it is forgotten, since where a reward is rare a mean of few episodes hides it."""


class CmaSearch:
    """Tunes one structure; `ask` and `tell` alternate.

    Args:
        start: The candidate.
        seed: Decides everything random.
        seeds: Source of training seeds.
    """

    def __init__(self, start: Start, seed: int, seeds: SeedSource) -> None:
        self.start = start
        self.space = ParamSpace(start.program.params)
        self.archive = Archive()
        self.steps = 0
        self.evaluations = 0
        self.finished = False
        self.short_sighted = False
        self._tried = Trials(len(self.space))
        self._seeds = seeds
        self._rng = np.random.default_rng(seed)
        self._generation = 0
        self._per_vector = 0
        self._tied = False
        self._horizon: int | None = -1
        self._at_full_length = False
        self._whole_generations = self._level_generations = 0
        self._restarts = 0
        self._veterans: list[Vector] = []
        self._seen_worse = False
        self.ran = False
        self.peak = NO_PEAK
        self.whole_episodes = Peaks()
        self._original = Elite(self.space.encode(self.space.defaults))
        self._earlier: tuple[Finalist, float] | None = None
        self._proven: Mapping[str, float] | None = None
        self._warm = [self.space.encode({**self.space.defaults, **values}) for values in start.warm]
        self._recheck: list[Vector] = [self._original.vector, *self._warm]
        self._begin(self._recheck[0], spread=start.spread)

    @property
    def population(self) -> int:
        """Vectors in a generation."""
        return int(self._es.popsize)

    @property
    def size(self) -> int:
        """How many numbers there are to find."""
        return len(self.space)

    def score(self) -> float:
        """How good the best vector is at the current horizon, for ranking structures."""
        return self.archive.score()

    def ask(self, clock: Clock) -> Batch:
        """The next generation, on seeds that all its vectors share."""
        horizon = clock.stage_horizon()
        if horizon != self._horizon:
            if self._horizon != -1:
                self._earlier, self._proven, self._original.returns = self.best(), None, []
                self._veterans = [entry.vector for entry in self.archive.forget_returns()]
                self._recheck += self._veterans
            self._horizon, self._at_full_length = horizon, horizon == clock.horizon
            self._best, self._since_best = -math.inf, 0
        self._choose_seeds_per_vector(clock)
        self._asked = [np.asarray(x) for x in self._es.ask()]
        self._extra = self._recheck + self._elites()
        if clock.cheap and clock.lasting and self._generation <= WIDE_GENERATIONS:
            self._extra += list(self._rng.random((WIDE_VECTORS, len(self.space))))
        if self._generation % 5 == 4:  # noqa: PLR2004 - now and then
            self._extra.append(self._centre())
        self._recheck = []
        first = FIRST_SEED + self._generation * SEED_BLOCK
        seeds = self._seeds(first, self._per_vector)
        trials = tuple(
            Trial(seed, self.space.decode(vector), horizon)
            for vector in [*self._asked, *self._extra]
            for seed in seeds
        )
        self._generation += 1
        return Batch(self.start.program, trials)

    def tell(self, episodes: Episodes) -> None:
        """Learn from the generation."""
        self.steps += steps_of(episodes)
        self.evaluations += len(episodes)
        k = self._per_vector
        returns = [return_of(episode) for episode in episodes]
        rows = [returns[i : i + k] for i in range(0, len(returns), k)]
        means = [mean_or_worst(row) for row in rows]
        asked = len(self._asked)
        self._es.tell(self._asked, ranks(means[:asked]))
        self._tried.add(self._asked, means[:asked])
        lucky: Vector | None = None
        for vector, row in zip([*self._asked, *self._extra], rows, strict=False):
            if self._at_full_length:  # a short one may have lost less
                self.whole_episodes.add(self.space.decode(vector), row)
                if max(row) > self.peak[0]:
                    self.peak, lucky = (max(row), self.space.decode(vector)), vector
        for vector, row in zip(self._extra, rows[asked:], strict=True):
            self._again(vector, row)
        self._begin_warm(dict(zip(map(id, self._extra), means[asked:], strict=True)))
        best = int(np.argmax(means[:asked]))
        if math.isfinite(means[best]):
            self.archive.offer(self._asked[best], rows[best])
        if lucky is not None and self.outstanding and not any(lucky is vector for vector in self._extra):
            self._recheck.append(lucky)
        self._adapt_seeds(means[:asked])
        self._watch(means[:asked])

    def tell_part(self, episodes: Episodes) -> None:
        """Learn from the first episodes of a generation that the steps do not pay for: the archive does, no more."""
        self.steps += steps_of(episodes)
        self.evaluations += len(episodes)
        returns, k = [return_of(episode) for episode in episodes], self._per_vector
        asked = len(self._asked)
        for i, vector in enumerate([*self._asked, *self._extra][: len(returns) // k]):
            row = returns[i * k : (i + 1) * k]
            if i >= asked:
                self._again(vector, row)
            elif math.isfinite(mean_or_worst(row)):
                self.archive.offer(vector, row)
            if self._at_full_length:
                self.whole_episodes.add(self.space.decode(vector), row)
                if max(row) > self.peak[0]:
                    self.peak = (max(row), self.space.decode(vector))

    @property
    def outstanding(self) -> bool:
        """Whether one whole episode returned far more than the original numbers do: rare, or luck, or a find."""
        known = self._original.returns and self._at_full_length
        peak, usual = self.peak[0], self._original.mean if known else self.start.score
        return math.isfinite(peak) and peak - usual > OUTSTANDING * max(abs(peak), abs(usual))

    def reached(self, target: float) -> bool:
        """Whether the best vector is as good as that on enough seeds."""
        best = self.archive.best()
        return best is not None and len(best.returns) >= RECHECKED and self.score() >= target

    def may_reach(self, target: float, clock: Clock) -> Iterator[Finalist]:
        """The elites that would reach the target in whole episodes at their present rate, best first."""
        cut = self._horizon is not None and clock.horizon is not None and not self._at_full_length
        rate = clock.horizon / self._horizon if cut and clock.horizon and self._horizon else 1.0
        hopeful = [e for e in self.archive.entries if max(e.mean, e.mean * rate) >= target]
        if hopeful:  # where returns are noisy, the middle of the distribution is better than the luckiest
            yield Finalist(self.start.program, self.space.decode(self._centre()))
        for entry in hopeful:
            if entry.mean >= target or len(entry.returns) > 1 or (clock.cheap and clock.lasting):
                yield Finalist(self.start.program, self.space.decode(entry.vector))

    def finalists(self, n: int) -> list[Finalist]:
        """Parameter values worth a last look: the originals, the distribution's mean, the elites."""
        elites = [entry.vector for entry in self.archive.entries] + self._veterans
        centre = self._centre()
        finalists: list[Finalist] = []
        for values in map(self.space.decode, [*elites[:1], centre, *elites[1:]]):
            finalist = Finalist(self.start.program, values)
            if finalist not in finalists:
                finalists.append(finalist)
        original = Finalist(self.start.program, self.space.defaults)
        rest = [finalist for finalist in finalists if finalist != original]
        if self.outstanding:
            lucky = Finalist(self.start.program, self.peak[1])
            rest = [
                *rest[:1],
                *([] if rest[:1] == [lucky] else [lucky]),
                *(f for f in rest[1:] if f != lucky),
            ]
        return [*rest[:1], original, *rest[1:]][:n]

    def best(self) -> tuple[Finalist, float] | None:
        """The best parameter values so far and their mean return; None where they are no better than the originals."""
        if (
            self._proven is not None
        ):  # what is better in episodes of this length was seen to be no better in whole ones
            same = self._proven == self.space.defaults
            return None if same else (Finalist(self.start.program, self._proven), self.start.score)
        entry = self.archive.best()
        if entry is None:
            return self._earlier
        known = self._original.returns
        before = self._original.mean if known else self.start.score if self._at_full_length else -math.inf
        if entry.vector is self._original.vector or entry.mean <= before:
            return None
        return Finalist(self.start.program, self.space.decode(entry.vector)), entry.mean

    def _centre(self) -> Vector:
        """The middle of the distribution."""
        centre: Vector = np.clip(np.asarray(self._es.result.xfavorite), 0.0, 1.0)
        return centre

    def begin_at(self, params: Mapping[str, float]) -> None:
        """Search anew around some parameter values, which proved themselves in whole episodes."""
        self._proven = params
        self._begin(self.space.encode(params), self.population)

    def begin_elsewhere(self, params: Mapping[str, float], *, far: bool) -> None:
        """Search in another basin: widely around values that proved themselves, or from a random place.

        The proven values stay the ones to beat.
        """
        proven = self.space.encode(params)
        self._veterans = []
        self.archive.forget_returns()
        self._recheck = [self._original.vector] if params == self.space.defaults else [proven]
        self.finished = self.short_sighted = False
        if far:
            self._begin(self._rng.random(len(self.space)), self.population)
        else:
            self._begin(proven, self.population, WIDEST_STEP)

    @property
    def whole(self) -> bool:
        """Whether the latest generation played whole episodes."""
        return self._at_full_length

    @property
    def level(self) -> bool:
        """Whether in every generation of whole episodes most vectors earned the same, but for what is not worth a step."""
        return 0 < self._whole_generations == self._level_generations

    @property
    def flat(self) -> bool:
        """Whether all vectors that were tried beside each other have scored alike."""
        return self._generation > 0 and not self._seen_worse

    def widen(self) -> None:
        """Try the whole ranges: near the values a structure came with nothing makes a difference."""
        self._begin(np.full(len(self.space), 0.5), self.population, WIDEST_STEP)

    def sensitivity(self, values: Mapping[str, float]) -> dict[str, Sensitivity]:
        """How much each parameter, an array as a whole, moved the return; nothing where too little was tried."""
        return moved(self.start, self.space, self._tried.shares(), values, self.evaluations)

    def tuned(self, finalist: Finalist, score: float) -> Tuned:
        """The result with some parameter values."""
        return tuned_to(
            self.start, self.space, finalist.params, score, self.steps, self.sensitivity(finalist.params)
        )

    @property
    def spread(self) -> tuple[float, ...]:
        """How wide the distribution is, per number: where the same search would go on; empty before it has begun."""
        return tuple(round(float(one), 4) for one in self._es.stds) if self._generation else ()

    def _begin(
        self,
        mean: Vector,
        population: int | None = None,
        width: float | None = None,
        spread: Sequence[float] = (),
    ) -> None:
        """A fresh distribution around a point, as wide in each number as an earlier search was, if there was one."""
        self._best, self._since_best = -math.inf, 0
        self._es = distribution(mean, self._rng, population, width, spread)

    def _begin_warm(self, means: Mapping[int, float]) -> None:
        """After the first generation: go on around a relative's values where these do better."""
        warm, self._warm = self._warm, []
        best = max(warm, key=lambda vector: means[id(vector)], default=None)
        if best is not None and means[id(best)] > means[id(self._original.vector)]:
            self._begin(best, self.population)

    def _elites(self) -> list[Vector]:
        """Elites whose returns may still be luck."""
        unsure = [e.vector for e in self.archive.entries if len(e.returns) < RECHECKED * self._per_vector]
        return unsure[: ELITES_AGAIN if self.archive.spread() > 0.0 else 1]

    def _again(self, vector: Vector, row: Sequence[float]) -> None:
        if vector is self._original.vector:
            self._original.returns.extend(row)
        for entry in self.archive.entries:
            if entry.vector is vector:
                entry.returns.extend(row)
                self.archive.trim()
                return
        self.archive.offer(vector, row)

    def _choose_seeds_per_vector(self, clock: Clock) -> None:
        """Seeds per vector: as noise demands, but never at the price of too few generations."""
        length = max(1, clock.cost(1, self._horizon))
        affordable = clock.left / (self.population * length)
        if self._per_vector == 0:
            self._per_vector = int(np.clip(affordable / ENOUGH_GENERATIONS, 1, 4))
        most = max(1.0, affordable / 15)
        if clock.cheap:  # one episode each, until several vectors are as good as it can tell
            self._per_vector = most = CHEAP_SEEDS if self._tied else 1
        self._per_vector = int(np.clip(self._per_vector, 1, most))

    def _adapt_seeds(self, means: Sequence[float]) -> None:
        """More seeds where noise hides the differences inside a generation, fewer where it does not."""
        finite = [m for m in means if math.isfinite(m)]
        signal = float(np.std(finite)) if len(finite) > 1 else 0.0
        noise = self.archive.spread() / math.sqrt(self._per_vector)
        if signal < noise:
            self._per_vector = min(MOST_SEEDS, math.ceil(1.5 * self._per_vector))
        elif signal > 3 * noise:
            self._per_vector = max(1, self._per_vector - 1)

    def _watch(self, means: Sequence[float]) -> None:
        """Notice saturation and stalls."""
        score = self.archive.score()
        if score > self._best + 1e-9 * abs(score):
            self._best, self._since_best = score, 0
        else:
            self._since_best += 1
        best = self.archive.best()
        if best is not None and self.archive.spread() == 0.0 and len(best.returns) >= RECHECKED:
            equal = sum(m == best.mean for m in means)
            improved = any(entry.mean < best.mean for entry in self.archive.entries) or self._generation > 1
            self.finished = 2 * equal > len(means) and improved and self._seen_worse and self._at_full_length
        if self._at_full_length:
            top = max(means)
            equal = sum(m >= top - SMALL * abs(top) for m in means) if math.isfinite(top) else 0
            self._whole_generations += 1
            self._level_generations += 2 * equal > len(means)
        self._tied = means.count(max(means)) > 1
        alike = 2 * means.count(max(means)) > len(means)
        self.short_sighted = alike or self._since_best > DULL * math.sqrt(len(self.space))
        self._seen_worse = self._seen_worse or min(means) < max(means)
        self.ran = self.ran or math.isfinite(max(means))
        patience = 25 + 4 * int(math.sqrt(len(self.space)))
        if self._since_best > patience or self._collapsed():
            self._restart()

    def _collapsed(self) -> bool:
        """Whether the distribution has become too narrow to find anything else."""
        return float(np.max(self._es.stds)) < SMALLEST_STEP

    def _restart(self) -> None:
        """Twice the population: first around the best vector, then anywhere, in turn."""
        self._restarts += 1
        best = self.archive.best()
        population = self.population * (2 if self._restarts < 4 else 1)  # noqa: PLR2004
        if best is not None and self._restarts % 2 == 1:
            self._begin(best.vector, population, first_step(len(self.space)) / 2)
        else:
            self._begin(self._rng.random(max(2, len(self.space)))[: len(self.space)], population)


def ranks(means: Sequence[float]) -> list[float]:
    """Costs for a minimiser that uses ranks only: 0 for the best; ties share a rank."""
    order = sorted(set(means), reverse=True)
    place = {mean: float(i) for i, mean in enumerate(order)}
    return [place[mean] for mean in means]
