"""Steps that a world model's run pays for before it knows anything."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
from gymnasium import spaces

from promptpo.rollouts.evaluation import EpisodeRecord
from promptpo.run.evidence import Evidence
from promptpo.run.records import Seeds
from promptpo.search.paid_steps import FIRST_EPISODES, FIRST_STEPS, MOST_EPISODES, PaidSteps


class Counting(PaidSteps):
    """Counts what it is asked to play; every episode has 50 steps."""

    def __init__(self, known: int) -> None:
        box = spaces.Box(-1.0, 1.0, (1,))
        self.experience = SimpleNamespace(steps=known, episodes=known // 50)
        modeller = SimpleNamespace(experience=self.experience, spaces=(box, box))
        super().__init__(cast("Any", SimpleNamespace(journal=None)), cast("Any", modeller), 50, Seeds())
        self.batches: list[int] = []

    async def play(
        self, key: str, source: str, seeds: Sequence[int], horizon: int | None = None
    ) -> list[float]:
        """As many episodes as asked for."""
        self.batches.append(len(seeds))
        self.experience.steps += 50 * len(seeds)
        self.experience.episodes += len(seeds)
        return [1.0] * len(seeds)


@pytest.mark.parametrize("known", [0, 100, FIRST_STEPS, 5 * FIRST_STEPS])
def test_what_experiments_have_shown_leaves_one_batch_of_chance(known: int) -> None:
    """However much is known, some random episodes are played, and never none: what chance earns has to be known."""
    steps = Counting(known)
    asyncio.run(steps.look_around())
    assert steps.batches[0] == FIRST_EPISODES
    assert all(0 < size <= MOST_EPISODES for size in steps.batches)
    assert steps.experience.steps >= FIRST_STEPS
    assert steps.chance == 1.0


@pytest.mark.parametrize(
    ("known", "batches"),
    [
        (5 * FIRST_STEPS, []),  # nothing is lacking
        (50, [(FIRST_STEPS - 50) // 50]),  # one episode: there is nothing to hold a model against
        (FIRST_STEPS - 100, [2]),
    ],
)
def test_what_references_met_is_not_paid_for_again(known: int, batches: list[int]) -> None:
    """Where marks say what chance earns, only the steps that are lacking are played."""
    steps = Counting(known)
    earned = Evidence((EpisodeRecord(1, -7.0, 50),)), Evidence((EpisodeRecord(1, -3.0, 50),))
    asyncio.run(steps.look_around({"random": earned[0], "zero": earned[1]}))
    assert steps.batches == batches
    assert steps.chance == -7.0
    assert steps.nothing == -3.0
    assert steps.luckiest == (1.0 if batches else -3.0)  # an episode of the look
