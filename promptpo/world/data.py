"""The steps that a run has paid for, kept compactly: what world models are fitted to and held against."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium
import numpy as np

from promptpo.world.numbers import quantities
from promptpo_sandbox import Recorded, Rollout
from promptpo_sandbox.errors import SpaceBorderError
from promptpo_sandbox.worlds import recorded

MOST_NUMBERS, MOST_BYTES = 25_000_000, 200_000_000
"""Observed numbers that are kept in memory, and bytes that they may take in a folder of the run, at most."""

HELD_OUT_OF = 4
"""One episode of so many, the second, the sixth and so on, is never fitted to."""

FOLDER = "world"


class Experience:
    """Recorded episodes within a bound, each for good in the fitting or in the held-out part.

    Where the bound is passed, every other episode of either part is dropped.

    Args:
        observation_space: Of the task.
        action_space: Of the task.
        most_numbers: The bound, in observed numbers.
    """

    def __init__(
        self,
        observation_space: gymnasium.Space[Any],
        action_space: gymnasium.Space[Any],
        most_numbers: int = MOST_NUMBERS,
    ) -> None:
        self._spaces = (observation_space, action_space)
        self._most = most_numbers // len(quantities(observation_space) or [1])
        self._parts: tuple[list[Recorded], list[Recorded]] = ([], [])
        self._seen = 0

    @property
    def fitting(self) -> tuple[Recorded, ...]:
        """Episodes that a model may be fitted to."""
        return tuple(self._parts[0])

    @property
    def held_out(self) -> tuple[Recorded, ...]:
        """Episodes that models are held against, and nothing else."""
        return tuple(self._parts[1])

    @property
    def episodes(self) -> int:
        """Episodes that are kept."""
        return sum(map(len, self._parts))

    @property
    def steps(self) -> int:
        """Transitions that are kept."""
        return sum(len(episode) for part in self._parts for episode in part)

    @property
    def is_flat(self) -> bool:
        """Whether every step earned the same and none ended its episode: no model of it tells policies apart."""
        episodes = [one for part in self._parts for one in part]
        ended = any(one.terminated for one in episodes)
        return not ended and len({float(reward) for one in episodes for reward in one.rewards}) == 1

    def starts(self, most: int = 200) -> tuple[Any, ...]:
        """Observations that the latest episodes began with, of both parts: where to start is no prediction."""
        return tuple(episode.observations[0] for part in self._parts for episode in part[-most // 2 :])

    def add(self, rollouts: Iterable[Rollout]) -> None:
        """Keep the episodes of some rollouts that have trajectories which suit the spaces."""
        for rollout in rollouts:
            for episode in recorded_in(rollout, *self._spaces):
                self._parts[self._seen % HELD_OUT_OF == 1].append(episode)
                self._seen += 1
        while self.steps > self._most and self.episodes > HELD_OUT_OF:
            for part in self._parts:
                part[:] = part[::2]


def recorded_in(
    rollout: Rollout, observation_space: gymnasium.Space[Any], action_space: gymnasium.Space[Any]
) -> tuple[Recorded, ...]:
    """The episodes of a rollout that have trajectories which suit the spaces."""
    found = []
    for episode in rollout.episodes:
        if episode.trajectory is not None and len(episode.trajectory.rewards):
            with contextlib.suppress(SpaceBorderError):
                found.append(recorded(observation_space, action_space, episode))
    return tuple(one for one in found if one is not None)


def some_of(episodes: Sequence[Recorded], steps: int) -> tuple[Recorded, ...]:
    """Episodes of about so many steps in all, spread evenly; at least one where there are any."""
    total = sum(map(len, episodes))
    if total <= steps or len(episodes) < 2:  # noqa: PLR2004
        return tuple(episodes)
    count = max(1, round(len(episodes) * steps / total))
    places = np.unique(np.linspace(0, len(episodes) - 1, count).round().astype(int))
    return tuple(episodes[place] for place in places)
