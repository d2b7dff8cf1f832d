"""Where several world models disagree, steps of the environment are worth most: they say who is right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from promptpo.search.dreaming import plans
from promptpo.world.data import recorded_in, some_of
from promptpo.world.disagreement import disagreement
from sandbox import WorldFailedError

if TYPE_CHECKING:
    from promptpo.rollouts import Executor
    from promptpo.run.journal import Journal
    from promptpo.search.dreaming import Dreamer
    from promptpo.search.modelling import Modelled, Modeller

DISAGREE = 0.5
"""Models that are so many usual changes apart along a policy's imagined episodes know too little of where it goes."""

EPISODES, STEPS = 2, 1000
"""Allowance of one round: episodes of the environment, and steps."""

IMAGINED = 3
"""Episodes along which models are compared."""

MOST_KNOWN = 5000
"""Recorded steps that say what is usual."""


class Doubts:
    """Finds the policy along whose imagined episodes the models of a run disagree most.

    Args:
        modeller: Keeps the recorded steps.
        dreamer: Lets policies act in models.
        executor: Where models run.
        journal: Of the run.
    """

    def __init__(self, modeller: Modeller, dreamer: Dreamer, executor: Executor, journal: Journal) -> None:
        self._modeller, self._dreamer = modeller, dreamer
        self._executor, self._journal = executor, journal

    async def most(self, key: str, world: Modelled, sources: Sequence[str]) -> tuple[str, float]:
        """The policy that goes where models disagree most, and by how much; none where they agree, once in a run.

        Args:
            key: Its name in the journal.
            world: The model in use, and others.
            sources: Policies to choose from, equal ones once.
        """
        found = self._journal.find("dream", key)
        if found is None:
            source, apart = "", 0.0
            for one in dict.fromkeys(sources) if world.others else ():
                value = await self._apart(world, one)
                if value is not None and value > max(DISAGREE, apart):
                    source, apart = one, value
            found = {"source": source, "apart": apart}
            self._dreamer.keep(self._journal, key, found)
        return str(found["source"]), float(found["apart"])

    async def _apart(self, world: Modelled, policy: str) -> float | None:
        """How far the models differ along imagined episodes of a policy; None where that cannot be told."""
        dream = self._dreamer.dream(world.source, world.params)
        try:
            steps = self._dreamer.planned[1] if plans(policy) else None
            rollouts = await self._dreamer.played(dream, policy, IMAGINED, steps)
        except WorldFailedError:
            return None
        spaces = self._modeller.spaces
        episodes = [one for rollout in rollouts for one in recorded_in(rollout, *spaces)]
        known = some_of(self._modeller.experience.fitting, MOST_KNOWN)
        sources = (world.source, *world.others)
        return await disagreement(self._executor, sources, episodes, known, spaces)
