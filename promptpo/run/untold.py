"""Trajectories that were paid for with steps and that nothing was said of yet, kept beside the journal."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from promptpo.files import make_folder, read_regular, write_atomically
from promptpo.run.packing import deflate, inflate
from promptpo_sandbox import Rollout

UNTOLD = "untold"
"""Folder of a run for trajectories that feedback has not been written on yet."""

MOST_VALUES = 2_000_000
"""Trajectories of more numbers are not kept for a resumed run; their episodes are rolled out once more."""


class Untold:
    """The folder of a run in which they are; whatever it cannot keep is rolled out once more.

    Args:
        directory: The run's.
    """

    def __init__(self, directory: Path) -> None:
        self._folder = directory / UNTOLD

    def keep(self, key: str, rollout: Rollout) -> None:
        """Write a rollout, where it is not too large."""
        if values_in(rollout) > MOST_VALUES:
            return
        with contextlib.suppress(OSError):  # a full disk: the journal's next event says so
            make_folder(self._folder)
            write_atomically(self._folder / key, deflate([rollout]))

    def read(self, key: str) -> Rollout | None:
        """What was kept under this name; None where there is nothing, or nothing whole."""
        with contextlib.suppress(OSError, ValueError, KeyError, zlib.error):
            rollout: Rollout = inflate(read_regular(self._folder / key).decode())[0]
            return rollout
        return None

    def drop(self, key: str) -> None:
        """Forget it: feedback was written on it."""
        with contextlib.suppress(OSError):
            (self._folder / key).unlink(missing_ok=True)
            self._folder.rmdir()


def values_in(rollout: Rollout) -> int:
    """About how many numbers the trajectories of a rollout hold."""
    return sum(
        len(episode.trajectory.rewards) * max(1, _size(episode.trajectory.observations[0]))
        for episode in rollout.episodes
        if episode.trajectory is not None and len(episode.trajectory.observations)
    )


def _size(observation: Any) -> int:
    """How many numbers an observation holds, whose parts may differ in shape."""
    import numpy as np

    if isinstance(observation, Mapping):
        return sum(map(_size, observation.values()))
    if isinstance(observation, tuple):
        return sum(map(_size, observation))
    return int(np.size(observation))
