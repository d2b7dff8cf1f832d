"""Real steps for a simulator: random actions to fit it to, and episodes that decide between policies found in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from promptpo.core.budget import affordable_units
from promptpo.program import Program
from promptpo.program.reference_policies import zero_policy
from promptpo.rollouts import Job, evaluation_of
from promptpo.simulator.data import held_random_policy, record_episodes
from promptpo_sandbox import Recorded, Rollout, Trial

if TYPE_CHECKING:
    from promptpo.core.feature import SearchContext
    from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation

WANTED_STEPS, LEARNT_STEPS = 300, 600
"""Numbers of random steps for fitting a simulator's numbers, and for learning formulas if no model writes them; 200 fit numbers as well
as 1,700."""

FIRST_EPISODES, MAX_EPISODES, MAX_BATCHES = 4, 60, 4
"""Number of first episodes, maximum number in a batch, and maximum number of batches, each as large as needed by estimate."""

EPISODE_STEPS = 100
"""Maximum length of these episodes: several initial states are more informative than one long fall."""

HELD_SEEDS, DECIDING_SEEDS = 700_000, 710_000
"""First training seeds of episodes to learn from, and of those that decide."""


class RealSteps:
    """Takes real steps for the simulator, once per run, and keeps them for fitting.

    Args:
        context: Context of the run.

    Attributes:
        held: Episodes of random actions.
        deciding: Episodes of policies found in a simulator.
        random: Records of the episodes of random actions.
    """

    def __init__(self, context: SearchContext) -> None:
        self._context, self._work = context, context.work
        self._spaces = (context.spec.observation_space, context.spec.action_space)
        self.held: tuple[Recorded, ...] = ()
        self.deciding: tuple[Recorded, ...] = ()
        self.random: tuple[EpisodeRecord, ...] = ()

    @property
    def episode_steps(self) -> int:
        """Maximum length of episodes of random actions."""
        return min(self._context.horizon, EPISODE_STEPS)

    @property
    def held_source(self) -> str:
        """Source of the policy that takes random actions."""
        return held_random_policy(self._spaces[1])

    @property
    def left(self) -> int:
        """Steps that may still be taken, leaving enough to evaluate what is found as a candidate."""
        config, ledger = self._context.config, self._work.ledger
        part = affordable_units("real", config.budget.steps, 1) - ledger.taken["real"]
        total = ledger.steps_left()
        if total is not None:
            part = min(part, total - config.train_episodes * self._context.horizon)
        return max(0, part)

    async def take_random(self) -> None:
        """Take random actions until there are enough steps, and zero actions in one episode: some tasks end at once under random ones.

        Raises:
            BudgetSpentError: No environment steps are left.
        """
        taken, episodes = 0, FIRST_EPISODES
        wanted = WANTED_STEPS if self._context.learns else LEARNT_STEPS
        for n in range(MAX_BATCHES):
            seeds = self._context.seeds.train(episodes, start=HELD_SEEDS + 1000 * n)
            plays = [(self.held_source, seeds), (zero_policy(self._spaces[1]), seeds[:1])]
            rollouts = await self._play(f"held{n + 1}", plays[: 1 if n else None], self.episode_steps)
            for rollout in rollouts:
                self.held += record_episodes(rollout, *self._spaces)
                taken += rollout.steps
            self.random += evaluation_of(rollouts[0]).episodes
            if taken >= wanted or not rollouts[0].steps:
                break
            length = taken / max(1, len(self.held))
            episodes = min(MAX_EPISODES, math.ceil((wanted - taken) / max(1.0, length)))

    async def decide(self, key: str, sources: Sequence[str], episodes: int, n: int) -> list[Evaluation]:
        """Play real episodes, with the same seeds for each policy.

        Args:
            key: Journal key.
            sources: The policies.
            episodes: Number of episodes for each.
            n: Number of the occasion, for new seeds.

        Raises:
            BudgetSpentError: No environment steps are left.
        """
        seeds = self._context.seeds.train(episodes, start=DECIDING_SEEDS + 100 * n)
        rollouts = await self._play(key, [(source, seeds) for source in sources], self._context.horizon)
        for rollout in rollouts:
            self.deciding += record_episodes(rollout, *self._spaces)
        return list(map(evaluation_of, rollouts))

    async def _play(
        self, key: str, plays: Sequence[tuple[str, Sequence[int]]], horizon: int
    ) -> list[Rollout]:
        """Play policies, each on its seeds."""
        jobs = [
            Job(
                source,
                tuple(Trial(seed, Program.from_source(source).values, horizon) for seed in seeds),
                record=True,
                stop_on_failure=False,
            )
            for source, seeds in plays
        ]
        return await self._work.play("real", key, jobs)
