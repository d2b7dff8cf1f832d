"""Learning of a ``TABLE`` literal from the candidate's own rollouts."""

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

    from promptpo.features.tuning.batches import Episodes, SeedSource, Start, StepBudget
    from promptpo_sandbox import Episode

FIRST_SEED = 1000
DISCOUNT = 0.99
"""Discount factor for planning, unless the candidate defines ``DISCOUNT``."""

BATCH_STEPS, FEWEST, MOST = 1500, 8, 256
"""Steps between two plans, and minimum and maximum number of episodes in a batch."""

ENOUGH_VISITS, DETERMINISTIC_VISITS = 256, 4
"""Number of visits after which an action counts as known for good; fewer if all transitions are deterministic."""


class TableSearch:
    """Tunes one table by optimistic model-based learning; see `promptpo.features.tuning.tuning.Arm`.

    Exploring policies are ordinary policy sources. In each state they take the actions not yet known in turn, or else the action
    that leads to unknown ones soonest; each episode of a batch starts the turns at a different action. An action counts as known
    after one visit; this number doubles whenever everything reachable is known.

    Args:
        start: The candidate; its keys must be those of `key_of`.
        seeds: Source of training seeds.
        budget: The step budget of the whole tuning.
    """

    population, size = FEWEST, 0
    generations_per_check = 10_000  # runs to its end: checks before that decide nothing

    def __init__(self, start: Start, seeds: SeedSource, budget: StepBudget) -> None:
        self.start, self._seeds, self.length = start, seeds, budget.horizon
        self.steps = self.evaluations = self.generations = 0
        self.finished = False
        found = start.program.constant("DISCOUNT")
        discount = min(0.9999, max(0.0, found)) if isinstance(found, float) else DISCOUNT
        self.model = TableModel(start.program.actions, discount)
        self._places = {action: i for i, action in enumerate(self.model.actions)}
        self._known = 1
        self._typical = float(BATCH_STEPS)

    def ask(self, budget: StepBudget) -> Batch | None:
        """Return the next batch of exploring episodes; None if the steps do not suffice."""
        length = min(self.length, 10 * len(self.model.index) + 100)
        wanted = int(np.clip(BATCH_STEPS / self._typical, FEWEST, MOST))
        episodes = min(wanted, budget.left // budget.cost(1, length))
        if not episodes:
            return None
        seeds = self._seeds(FIRST_SEED + self.generations * MOST, episodes)
        self.generations += 1
        trials = tuple(Trial(seed, {"turn": float(i % 64)}, length) for i, seed in enumerate(seeds))
        return Batch(explorer(self._wishes(), self.model.actions), trials, record=True)

    def tell(self, episodes: Episodes) -> None:
        """Learn from the transitions of a batch."""
        known = self._count_known_pairs()
        for episode in episodes:
            if episode is not None and not is_failed(episode):
                self._learn(episode)
        self._typical = max(
            1.0, float(np.mean([episode.steps for episode in episodes if episode is not None] or [1]))
        )
        if self.generations > 1 and self._count_known_pairs() <= known:
            self._known *= 2
            enough = DETERMINISTIC_VISITS if self.model.deterministic() else ENOUGH_VISITS
            self.finished = self._known > enough

    def finalists(self) -> list[Finalist]:
        """Return the table of the best known action in every visited state."""
        q = self.model.values(1, optimistic=False)
        best = {
            state: self.model.actions[int(np.argmax(q[i]))] for state, i in sorted(self.model.index.items())
        }
        return [Finalist(self.start.program.with_table(best), {})]

    def hopeful(self, target: float) -> None:
        """Return None: exploring episodes say nothing about a target."""

    def continue_from(self, front: Finalist, *, gained: bool) -> None:
        """Keep exploring: whether the greedy table gains says nothing about what is unknown."""

    def report_tuned(self, finalist: Finalist) -> TuningResult:
        """Return the candidate with a learned table."""
        before, after = self.start.program.table or {}, finalist.program.table or {}
        changed = sum(before.get(state) != action for state, action in after.items())
        note = f"TABLE: {changed} of {len(after)} entries learned from {self.steps} steps of its own rollouts"
        return TuningResult(
            self.start.id, finalist.program, {}, self.steps, {}, self.evaluations, "better", note
        )

    def report_unchanged(self) -> TuningResult:
        """Return the candidate unchanged."""
        start = self.start
        return TuningResult(start.id, start.program, {}, self.steps, evaluations=self.evaluations)

    def _wishes(self) -> dict[Hashable, tuple[Any, ...]]:
        """Return the actions to take in each state: its unknown actions in turn, or the way to such actions."""
        q = self.model.values(self._known, optimistic=True)
        actions = range(len(self.model.actions))
        wishes = {}
        for state, i in self.model.index.items():
            unknown = [a for a in actions if self.model.visits[i, a] < self._known]
            wishes[state] = tuple(self.model.actions[a] for a in unknown or [int(np.argmax(q[i]))])
        return wishes

    def _count_known_pairs(self) -> int:
        """Return the number of known pairs of state and action."""
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
    """Return a policy that takes each state's listed actions in turn."""
    return _explorer_template().with_literal("ACTIONS", repr(tuple(actions))).with_table(wishes)


@cache
def _explorer_template() -> Program:
    template = resources.files("promptpo.features.tuning").joinpath("explorer.py.txt")
    return Program(template.read_text(encoding="utf-8"))
