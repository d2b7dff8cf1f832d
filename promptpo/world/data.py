"""The steps that a run has paid for, kept compactly: what world models are fitted to and held against."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from promptpo.run.packing import deflate, inflate
from sandbox import Episode, Recorded, Rollout
from sandbox.errors import SpaceBorderError
from sandbox.worlds import recorded

MOST_BYTES = 200_000_000

HELD_OUT_OF = 4
"""One episode of so many, the second, the sixth and so on, is never fitted to."""

FOLDER = "world"


class Experience:
    """Recorded episodes within a bound, each for good in the fitting or in the held-out part.

    Where the bound is passed, every other episode of either part is dropped, and of those that come later as
    many are left out, so that what is kept stays spread evenly over the run.

    Args:
        observation_space: Of the task.
        action_space: Of the task.
        most_bytes: The bound.
    """

    def __init__(
        self,
        observation_space: gymnasium.Space[Any],
        action_space: gymnasium.Space[Any],
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.observation_space, self.action_space = observation_space, action_space
        self._most = most_bytes
        self._parts: tuple[list[Recorded], list[Recorded]] = ([], [])
        self._seen = 0
        self._stride = 1
        self._bytes = 0
        self.unfit = 0

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
        if not episodes or any(one.terminated for one in episodes):
            return False
        return all(float(np.ptp(one.rewards)) == 0 for one in episodes) and (
            len({float(one.rewards[0]) for one in episodes}) == 1
        )

    @property
    def bytes(self) -> int:
        """About how much memory they take."""
        return self._bytes

    def starts(self, most: int = 200) -> tuple[Any, ...]:
        """Observations that the latest episodes began with, of both parts: where to start is no prediction."""
        return tuple(episode.observations[0] for part in self._parts for episode in part[-most // 2 :])

    def add(self, rollouts: Iterable[Rollout]) -> None:
        """Keep the episodes of some rollouts that have trajectories; `unfit` counts what does not suit the spaces."""
        for rollout in rollouts:
            for episode in rollout.episodes:
                if episode.trajectory is None or not len(episode.trajectory.rewards):
                    continue
                kept = _recorded(episode, self.observation_space, self.action_space)
                if kept is None:
                    self.unfit += 1
                else:
                    self._keep(kept)

    def _keep(self, episode: Recorded) -> None:
        number, self._seen = self._seen, self._seen + 1
        held_out = number % HELD_OUT_OF == 1
        if (number // HELD_OUT_OF) % self._stride:
            return
        self._parts[held_out].append(episode)
        self._bytes += _size(episode)
        while self._bytes > self._most and any(len(part) > 1 for part in self._parts):
            self._stride *= 2
            for part in self._parts:
                part[:] = part[::2]
            self._bytes = sum(_size(one) for part in self._parts for one in part)


def recorded_in(
    rollout: Rollout, observation_space: gymnasium.Space[Any], action_space: gymnasium.Space[Any]
) -> tuple[Recorded, ...]:
    """The episodes of a rollout that have trajectories which suit the spaces."""
    kept = (_recorded(episode, observation_space, action_space) for episode in rollout.episodes)
    return tuple(one for one in kept if one is not None)


def _recorded(episode: Episode, observation_space: Any, action_space: Any) -> Recorded | None:
    try:
        return recorded(observation_space, action_space, episode)
    except SpaceBorderError:
        return None


def _size(episode: Recorded) -> int:
    return sum(_bytes(part) for part in (episode.observations, episode.actions, episode.rewards))


def _bytes(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return int(value.nbytes) + 112
    if isinstance(value, dict):
        return sum(_bytes(item) for item in value.values()) + 200
    if isinstance(value, (list, tuple)):
        return sum(map(_bytes, value)) + 56
    return 32


def some_of(episodes: Sequence[Recorded], steps: int) -> tuple[Recorded, ...]:
    """Episodes of about so many steps in all, spread evenly; at least one where there are any."""
    total = sum(map(len, episodes))
    if total <= steps or len(episodes) < 2:  # noqa: PLR2004
        return tuple(episodes)
    count = max(1, round(len(episodes) * steps / total))
    places = np.unique(np.linspace(0, len(episodes) - 1, count).round().astype(int))
    return tuple(episodes[place] for place in places)


class Shelf:
    """Where a run keeps the trajectories that its models need, so that a resumed run need not pay for them again.

    Args:
        directory: Of the run.
        most_bytes: What all files may take; what comes later is not written.
    """

    def __init__(self, directory: Path, most_bytes: int = MOST_BYTES) -> None:
        self._folder, self._most = directory / FOLDER, most_bytes

    def put(self, key: str, rollout: Rollout) -> None:
        """Write the trajectories of a rollout, where there is room; a full disk leaves it unwritten."""
        with contextlib.suppress(OSError):
            self._folder.mkdir(exist_ok=True)
            text = deflate([rollout])
            if len(text) + sum(path.stat().st_size for path in self._folder.iterdir()) > self._most:
                return
            temporary = self._path(key).with_suffix(".part")
            try:
                temporary.write_text(text, encoding="ascii")
                temporary.replace(self._path(key))
            finally:
                temporary.unlink(missing_ok=True)

    def get(self, key: str) -> Rollout | None:
        """The rollout of a key; None where it was not written, or is damaged."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, zlib.error):
            return inflate(self._path(key).read_text(encoding="ascii"))[0]
        return None

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.steps"
