"""Learning a ``TABLE`` literal from the candidate's own rollouts."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.features.tuning.batches import Batch, Finalist, is_failed
from promptpo.features.tuning.outcome import TuningResult
from promptpo.features.tuning.table_model import TableModel, key_of
from promptpo.program import Program
from promptpo_sandbox import Trial

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from promptpo.features.tuning.batches import Episodes, Purse, SeedSource, Start
    from promptpo_sandbox import Episode

FIRST_SEED = 1000
DISCOUNT = 0.99
"""Of later rewards when planning, where the candidate names no ``DISCOUNT``."""

BATCH_STEPS, FEWEST, MOST = 1500, 8, 256
"""Steps between two plans, and episodes of a batch at least and at most."""

ENOUGH_VISITS, DETERMINISTIC_VISITS = 256, 4
"""An action whose successors were counted this often is known as well as our budgets allow; fewer do where none differed."""


class TableSearch:
    """Tunes one table by optimistic model-based learning; see `promptpo.features.tuning.tuning.Arm`.

    Exploring policies are ordinary policy sources. In each state they take the actions that are not yet known in turn, or
    else the action that leads to unknown ones soonest; every episode of a batch starts its turns at another place. An action
    is known after one visit; the number doubles whenever everything within reach is known.

    Args:
        start: The candidate; its keys must be those of `key_of`.
        seeds: Source of training seeds.
        purse: The steps of the whole tuning.
    """

    population, size = FEWEST, 0
    leg = 10_000  # until it is done: looks at what it knows so far decide nothing
    patience: int | None = None  # it ends by itself

    def __init__(self, start: Start, seeds: SeedSource, purse: Purse) -> None:
        self.start, self._seeds, self.length = start, seeds, purse.horizon
        self.steps = self.evaluations = self._batches = 0
        self.finished = False
        found = start.program.constant("DISCOUNT")
        discount = min(0.9999, max(0.0, found)) if isinstance(found, float) else DISCOUNT
        self.model = TableModel(start.program.actions, discount)
        self._places = {action: i for i, action in enumerate(self.model.actions)}
        self._known = 1
        self._typical = float(BATCH_STEPS)

    def ask(self, purse: Purse) -> list[Batch]:
        """The next batch of exploring episodes."""
        length = min(self.length, 10 * len(self.model.index) + 100)
        wanted = int(np.clip(BATCH_STEPS / self._typical, FEWEST, MOST))
        episodes = min(wanted, purse.left // purse.cost(1, length))
        seeds = self._seeds(FIRST_SEED + self._batches * MOST, episodes)
        self._batches += 1
        trials = [Trial(seed, {"turn": float(i % 64)}, length) for i, seed in enumerate(seeds)]
        return (
            [Batch(explorer(self._wishes(), self.model.actions), tuple(trials), record=True)]
            if trials
            else []
        )

    def tell(self, episodes: Episodes) -> None:
        """Learn from the transitions of a batch."""
        known = self._count_known_pairs()
        for episode in episodes:
            if episode is not None and not is_failed(episode):
                self._learn(episode)
        self._typical = max(
            1.0, float(np.mean([episode.steps for episode in episodes if episode is not None] or [1]))
        )
        if self._batches > 1 and self._count_known_pairs() <= known:
            self._known *= 2
            enough = DETERMINISTIC_VISITS if self.model.deterministic() else ENOUGH_VISITS
            self.finished = self._known > enough

    def finalists(self) -> list[Finalist]:
        """The best action of every visited state, by what has been seen."""
        q = self.model.values(1, optimistic=False)
        best = {
            state: self.model.actions[int(np.argmax(q[i]))] for state, i in sorted(self.model.index.items())
        }
        return [Finalist(self.start.program.with_table(best), {})]

    def hopeful(self, target: float) -> None:
        """Exploring says nothing of a target."""

    def go_on(self, front: Finalist, *, gained: bool) -> None:
        """Explore on: whether the greedy table gains says nothing of what is unknown."""

    def report_tuned(self, finalist: Finalist) -> TuningResult:
        """The candidate with some table."""
        before, after = self.start.program.table or {}, finalist.program.table or {}
        changed = sum(before.get(state) != action for state, action in after.items())
        note = f"TABLE: {changed} of {len(after)} entries learnt from {self.steps} steps of its own rollouts"
        return TuningResult(
            self.start.id, finalist.program, {}, self.steps, (note,), {}, self.evaluations, "better"
        )

    def report_unchanged(self) -> TuningResult:
        """The candidate as it was."""
        start = self.start
        return TuningResult(start.id, start.program, {}, self.steps, evaluations=self.evaluations)

    def _wishes(self) -> dict[Hashable, tuple[Any, ...]]:
        """Return the action for each state: its unknown actions in turn, or the way to them."""
        q = self.model.values(self._known, optimistic=True)
        actions = range(len(self.model.actions))
        wishes = {}
        for state, i in self.model.index.items():
            unknown = [a for a in actions if self.model.visits[i, a] < self._known]
            wishes[state] = tuple(self.model.actions[a] for a in unknown or [int(np.argmax(q[i]))])
        return wishes

    def _count_known_pairs(self) -> int:
        """Pairs of state and action that are known."""
        return sum(n >= self._known for n in self.model.visits.values())

    def _learn(self, episode: Episode) -> None:
        trajectory = episode.trajectory
        if trajectory is None:
            return
        states = [key_of(obs) for obs in trajectory.observations]
        for t, (action, reward) in enumerate(zip(trajectory.actions, trajectory.rewards, strict=True)):
            place = self._places.get(int(np.ravel(action)[0]))
            last = t + 1 >= len(trajectory.actions)
            after = None if last and episode.terminated else states[min(t + 1, len(states) - 1)]
            if place is not None and t < len(states):
                self.model.learn(states[t], place, float(reward), after)


def explorer(wishes: dict[Hashable, tuple[Any, ...]], actions: Sequence[Any]) -> Program:
    """A policy that takes each state's wished actions in turn."""
    return _explorer_template().with_literal("ACTIONS", repr(tuple(actions))).with_table(wishes)


@cache
def _explorer_template() -> Program:
    template = resources.files("promptpo.features.tuning").joinpath("explorer.py.txt")
    return Program(template.read_text(encoding="utf-8"))
