"""Learning a ``TABLE`` literal from the candidate's own rollouts."""

from __future__ import annotations

import math
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.program import Program
from promptpo.search.tuning.archive import mean_or_worst
from promptpo.search.tuning.batches import Batch, Finalist, Tuned, return_of, steps_of
from promptpo.search.tuning.model import TableModel, key_of
from sandbox import Trial

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from promptpo.search.tuning.batches import Episodes, SeedSource, Start
    from promptpo.search.tuning.clock import Clock
    from sandbox import Episode

FIRST_SEED = 1000
DISCOUNT = 0.99
"""Of later rewards when planning, where the candidate names no ``DISCOUNT``."""

BATCH_STEPS = 1500
"""Steps between two plans."""

FEWEST, MOST = 8, 256
"""Episodes in a batch."""

TESTED_EVERY = 4
"""Every so many batches the greedy table is rolled out, to see how good it is."""

ENOUGH_VISITS = 256
"""An action whose successors were counted this often is known as well as our budgets allow."""


class TableSearch:
    """Tunes one table by optimistic model-based learning; `ask` and `tell` alternate.

    Exploring policies are ordinary policy sources. In each state they take the actions that are not yet
    known in turn, or else the action that leads to unknown ones soonest; every episode of a batch starts
    its turns at another place. An action is known after one visit where the task looks deterministic;
    elsewhere the number doubles whenever everything within reach is known.

    Args:
        start: The candidate; its keys must be those of `key_of`.
        seeds: Source of training seeds.
    """

    population = FEWEST
    size = 0  # a table is filled by its own rollouts, however many states it has
    short_sighted = False
    flat = False
    ran = True

    def __init__(self, start: Start, seeds: SeedSource) -> None:
        self.start = start
        self.steps = 0
        self.evaluations = 0
        self.finished = False
        self.model = TableModel(start.program.actions, _discount(start.program))
        self._places = {action: i for i, action in enumerate(self.model.actions)}
        self._seeds = seeds
        self._known = 1
        self._batches = 0
        self._testing = False
        self._lengths = [float(BATCH_STEPS)]
        self._tested: list[tuple[float, dict[Hashable, Any]]] = []

    def score(self) -> float:
        """Mean return of the latest greedy table that was rolled out."""
        return self._tested[-1][0] if self._tested else -math.inf

    def ask(self, clock: Clock) -> Batch:
        """The next batch: exploring, or every now and then the greedy table."""
        reach = 10 * len(self.model.index) + 100
        horizon = reach if clock.horizon is None else min(clock.horizon, reach)
        episodes = int(np.clip(BATCH_STEPS / np.mean(self._lengths[-50:]), FEWEST, MOST))
        episodes = max(1, min(episodes, clock.left // max(1, clock.cost(1, horizon))))
        seeds = self._seeds(FIRST_SEED + self._batches * MOST, episodes)
        self._testing = self._batches % TESTED_EVERY == TESTED_EVERY - 1
        self._batches += 1
        if self._testing:
            trials = tuple(Trial(seed, {}, clock.horizon) for seed in seeds)
            return Batch(self.start.program.with_table(self.greedy()), trials, record=True)
        turns = [{"turn": float(i % 64)} for i in range(episodes)]
        trials = tuple(Trial(seed, turn, horizon) for seed, turn in zip(seeds, turns, strict=True))
        return Batch(explorer(self._wishes(), self.model.actions), trials, record=True)

    def tell(self, episodes: Episodes) -> None:
        """Learn from the transitions of a batch."""
        self.steps += steps_of(episodes)
        self.evaluations += len(episodes)
        self._lengths += [float(max(1, episode.steps)) for episode in episodes if episode is not None]
        if self._testing:
            self._tested.append((mean_or_worst([return_of(e) for e in episodes]), self.greedy()))
        unknown = self._unknown_pairs()
        for episode in filter(None, episodes):
            self._learn(episode)
        if not self._testing and self._batches > 1 and self._unknown_pairs() >= unknown:
            deterministic = self.model.deterministic()
            self._known = max(2, 2 * self._known)
            self.finished = self._known > (4 if deterministic else ENOUGH_VISITS) and bool(self._tested)

    def greedy(self) -> dict[Hashable, Any]:
        """The best action of every visited state, by what has been seen."""
        q = self.model.values(1, optimistic=False)
        return {
            state: self.model.actions[int(np.argmax(q[i]))] for state, i in sorted(self.model.index.items())
        }

    def reached(self, target: float) -> bool:
        """Whether the latest greedy table is as good as that."""
        return self.score() >= target

    def finalists(self, n: int) -> list[Finalist]:
        """The original, the table of all that has been learnt, and the best tables on the way."""
        best = sorted(self._tested, key=lambda tested: tested[0], reverse=True)
        tables = [self.greedy(), *(table for _, table in best)] if self.model.index else []
        programs = [self.start.program, *map(self.start.program.with_table, tables)]
        return [Finalist(program, {}) for program in dict.fromkeys(programs)][:n]

    def best(self) -> tuple[Finalist, float] | None:
        """The best table that was rolled out and its mean return; None where none is better than the original."""
        score, table = max(self._tested, key=lambda tested: tested[0], default=(-math.inf, {}))
        if not math.isfinite(score) or score <= self.start.score:
            return None
        return Finalist(self.start.program.with_table(table), {}), score

    def tuned(self, finalist: Finalist, score: float) -> Tuned:
        """The result with some table."""
        before, after = self.start.program.table or {}, finalist.program.table or {}
        changed = sum(before.get(state) != action for state, action in after.items())
        note = f"TABLE: {changed} of {len(after)} entries learnt from {self.steps} steps of its own rollouts"
        return Tuned(self.start.id, finalist.program, {}, score, self.steps, (note,) if changed else ())

    def _wishes(self) -> dict[Hashable, tuple[Any, ...]]:
        """What to do in each state: the unknown actions in turn, or the way to them."""
        q = self.model.values(self._known, optimistic=True)
        actions = range(len(self.model.actions))
        wishes = {}
        for state, i in self.model.index.items():
            unknown = [a for a in actions if self.model.visits[i, a] < self._known]
            wishes[state] = tuple(self.model.actions[a] for a in unknown or [int(np.argmax(q[i]))])
        return wishes

    def _unknown_pairs(self) -> int:
        """Pairs of state and action that are not yet known; new states add to them, visits take away."""
        known = sum(n >= self._known for n in self.model.visits.values())
        return -known

    def _learn(self, episode: Episode) -> None:
        trajectory = episode.trajectory
        if trajectory is None or episode.failure is not None:
            return
        states = [key_of(obs) for obs in trajectory.observations]
        for t, (action, reward) in enumerate(zip(trajectory.actions, trajectory.rewards, strict=True)):
            place = self._places.get(int(np.ravel(action)[0]))
            last = t + 1 >= len(trajectory.actions)
            after = (
                None if last and episode.terminated else states[t + 1] if t + 1 < len(states) else states[t]
            )
            if place is not None and t < len(states):
                self.model.learn(states[t], place, float(reward), after)


def _discount(program: Program) -> float:
    return min(0.9999, max(0.0, program.number("DISCOUNT", DISCOUNT)))


def explorer(wishes: dict[Hashable, tuple[Any, ...]], actions: Sequence[Any]) -> Program:
    """A policy that takes each state's wished actions in turn."""
    return _explorer_template().with_literal("ACTIONS", repr(tuple(actions))).with_table(wishes)


@cache
def _explorer_template() -> Program:
    template = resources.files("promptpo.search.tuning").joinpath("explorer.py.txt")
    return Program(template.read_text(encoding="utf-8"))
