"""CMA-ES over the declared parameters of one policy: in short episodes first, restarted when it has converged."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.cma_es import evolution_strategy
from promptpo.features.tuning.batches import WORST, Batch, Finalist, is_failed, score
from promptpo.features.tuning.outcome import TuningResult
from promptpo.features.tuning.sensitivity import Trials, sensitivities
from promptpo.features.tuning.space import ParamSpace
from promptpo_sandbox import Trial

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptpo.core.candidate import Sensitivity
    from promptpo.features.tuning.batches import Episodes, SeedSource, Start, StepBudget
    from promptpo.features.tuning.outcome import TuningOutcome
    from promptpo.features.tuning.space import Vector

FIRST_SEED = 1000
"""First training seed for tuning: earlier ones evaluate the candidates themselves."""

SHORT, FEW, ENOUGH, SHORT_UNTIL = 4, 6, 100, 0.65
"""Episodes are a quarter as long during this share of the steps, if the steps pay for a number of full-length generations between the
two bounds: with fewer, no full-length generation would follow; with more, short ones are not needed."""

FIRST_STEP, LATER_STEP = 0.3, 0.1
"""Initial step sizes as a share of the ranges: for untuned numbers, and where a search has been before."""

SMALLEST_STEP, FLAT = 1e-3, 3
"""Step size in every number below which a search has converged, and number of generations with equal scores after which it ends."""

MAX_COVARIANCE_NUMBERS = 100
"""Above this many numbers, the budget is too small to learn a covariance matrix, and random directions are searched instead."""


class CmaSearch:
    """Tunes the numbers of one structure; see `promptpo.features.tuning.tuning.Arm`.

    Args:
        start: The candidate.
        seed: Seed of all randomness.
        seeds: Source of training seeds.
        budget: The step budget of the whole tuning.
    """

    generations_per_check = 30

    def __init__(self, start: Start, seed: int, seeds: SeedSource, budget: StepBudget) -> None:
        self.start, self._seeds, self._whole = start, seeds, budget.horizon
        self.space = ParamSpace(start.program.params)
        self.size = len(self.space)
        self.steps = self.evaluations = self.generations = 0
        self._far, self._tells = False, {False: 0, True: 0}
        self._rng = np.random.default_rng(seed)
        self._tried = Trials(self.size)
        self._ran = self._differed = False
        self._before: list[Finalist] = []
        self._best: list[Vector] = []
        self._top, self._flat = WORST, 0
        self._es: Any = None
        self._begin(self.space.encode(self.space.defaults), FIRST_STEP)
        self._largest = self.population
        generations = budget.steps / (self.population * budget.horizon)
        short = FEW <= generations < ENOUGH
        self.length = max(1, budget.horizon // SHORT) if short else budget.horizon

    @property
    def population(self) -> int:
        """Number of vectors in a generation."""
        return int(self._es.popsize)

    @property
    def finished(self) -> bool:
        """Whether further generations are useless: the search has converged, or all vectors score alike."""
        return self._flat >= FLAT or float(np.max(self._es.stds)) < SMALLEST_STEP

    def ask(self, budget: StepBudget) -> Batch | None:
        """Return the next generation, on an initial state shared by all its vectors; None if the steps do not suffice."""
        if self.length < self._whole and budget.spent >= SHORT_UNTIL * budget.steps:
            self._before, self.length = self.finalists(), self._whole
            self._begin(self._middle(), LATER_STEP)
        elif self._flat and self.length < self._whole:  # too short to distinguish vectors
            self.length = min(self._whole, 2 * self.length)
        if budget.cost(self.population, self.length) > budget.left:
            return None
        self._asked = [np.asarray(vector) for vector in self._es.ask()]
        (seed,) = self._seeds(FIRST_SEED + self.generations, 1)
        self.generations += 1
        trials = tuple(Trial(seed, self.space.decode(vector), self.length) for vector in self._asked)
        return Batch(self.start.program, trials)

    def tell(self, episodes: Episodes) -> None:
        """Learn from a generation: success counts first, then the return."""
        self._ran = self._ran or not all(map(is_failed, episodes))
        self._tells[self._far] += len(episodes)
        scores = [score([episode]) for episode in episodes]
        costs = [float(sum(other > value for other in scores)) for value in scores]
        self._es.tell(self._asked, costs)
        self._tried.add(self._asked, costs)
        self._flat = 0 if any(costs) else self._flat + 1
        self._differed = self._differed or any(costs)
        first = costs.index(0.0)
        self._latest = episodes[first], self._asked[first]
        if scores[first] > self._top:
            self._top, self._best = scores[first], [self._asked[first]]

    def hopeful(self, target: float) -> Finalist | None:
        """Return the latest generation's best vector if a full episode would reach the target at its rate; else None."""
        episode, vector = self._latest
        if episode is None or is_failed(episode):
            return None
        rate = 1.0 if episode.terminated else self._whole / max(1, episode.steps)
        return self._finalist(vector) if max(1.0, rate) * episode.return_ >= target else None

    def finalists(self) -> list[Finalist]:
        """Return the mean of the search and the vector with the best episode, then those of the previous search."""
        own = [self._middle(), *self._best]
        return [*map(self._finalist, own), *self._before]

    def continue_from(self, front: Finalist, *, gained: bool) -> None:
        """Continue after full episodes of the finalists: with the same search, with longer episodes, or with a new search.

        New searches start at the front in ever larger populations, or anywhere in small ones, with about the same number of episodes
        for both (Hansen, "Benchmarking a BI-Population CMA-ES on the BBOB-2009 Function Testbed", 2009).
        """
        if not gained and self.length < self._whole:
            self.length = min(self._whole, 2 * self.length)
            self._top, self._best, self._flat, gained = WORST, [], 0, True
        if gained and not self.finished:
            return
        self._far = self._tells[True] < self._tells[False]
        if self._far:
            self._begin(self._rng.random(self.size), FIRST_STEP)
        else:
            self._largest *= 2
            self._begin(self.space.encode(front.params), FIRST_STEP, self._largest)

    def report_tuned(self, finalist: Finalist) -> TuningResult:
        """Return the candidate with other numbers."""
        before = self.space.defaults
        values = {**before, **finalist.params}  # a number left out keeps its default
        changes = {n: (before[n], values[n]) for n in self.space.names if values[n] != before[n]}
        program = finalist.program.with_values({n: after for n, (_, after) in changes.items()})
        left = {*before} - {*finalist.params}
        known = {name: moved for name, moved in self._sensitivity(values).items() if name not in left}
        return TuningResult(self.start.id, program, changes, self.steps, known, self.evaluations, "better")

    def report_unchanged(self) -> TuningResult:
        """Return the candidate unchanged."""
        start, known = self.start, self._sensitivity(self.space.defaults)
        outcome: TuningOutcome = "none" if self._differed else "alike"
        if not self._ran:
            outcome = "nothing ran" if any(self._tells.values()) else "too few"
        return TuningResult(start.id, start.program, {}, self.steps, known, self.evaluations, outcome)

    def _sensitivity(self, values: Mapping[str, float]) -> dict[str, Sensitivity]:
        return sensitivities(self.start.program, self.space, self._tried.shares(), values, self.evaluations)

    def _finalist(self, vector: Vector) -> Finalist:
        return Finalist(self.start.program, self.space.decode(vector))

    def _middle(self) -> Vector:
        return np.asarray(self._es.result.xfavorite)

    def _begin(self, place: Vector, width: float, population: int | None = None) -> None:
        """Start a new search around a point of the unit cube."""
        self._top, self._best, self._flat = WORST, [], 0
        usual = 4 + int(3 * math.log(max(2, self.size)))
        if self.size > MAX_COVARIANCE_NUMBERS:
            from promptpo.features.tuning.directions import MirroredDirections

            self._es = MirroredDirections(place, width / FIRST_STEP, population or usual, self._rng)
        else:
            self._es = evolution_strategy(place[: self.size], width, self._rng, popsize=population or usual)
