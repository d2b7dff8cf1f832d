"""Rollouts with trajectories as compact text, for events and files: plain data, never pickle."""

from __future__ import annotations

import base64
import contextlib
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from promptpo.files import MAX_FILE_BYTES, make_folder, read_regular, write_atomically
from promptpo_sandbox import Episode, Failure, Rollout, Trajectory
from promptpo_sandbox.guest import plain

AWAITING_FEEDBACK = "untold"
"""Folder of a run for trajectories without recorded feedback."""

MAX_TRAJECTORY_BYTES = 1 << 24
"""Size limit on trajectories kept for a resumed run; beyond it, their episodes are rolled out again."""


def deflate(rollouts: Sequence[Rollout]) -> str:
    """Pack rollouts, including trajectories, into one short string."""
    value = [(rollout.steps, [_pack(episode) for episode in rollout.episodes]) for rollout in rollouts]
    return base64.b85encode(zlib.compress(plain.encode(value))).decode()


def inflate(text: str) -> list[Rollout]:
    """Return the rollouts given to `deflate`, without output and timing.

    Raises:
        ValueError: The text is damaged or not from `deflate`.
    """
    opened = zlib.decompressobj()
    try:
        data = opened.decompress(base64.b85decode(text), MAX_FILE_BYTES)
    except zlib.error as error:
        raise ValueError(f"not packed rollouts: {error}") from error
    if not opened.eof:
        raise ValueError("the packed rollouts are damaged or too large")
    value = plain.decode(data)
    return [Rollout(tuple(map(_unpack, episodes)), None, steps, "", 0.0) for steps, episodes in value]


def _pack(episode: Episode) -> dict[str, Any]:
    data = {field.name: getattr(episode, field.name) for field in fields(episode)}
    trajectory, failure = episode.trajectory, episode.failure
    return {
        **data,
        "policy_seconds": 0.0,
        "parts": dict(episode.parts),
        "trajectory": trajectory
        and [_plain(getattr(trajectory, field.name)) for field in fields(trajectory)],
        "failure": failure and asdict(failure),
    }


def _plain(values: Sequence[Any]) -> list[Any]:
    return [dict(value) if hasattr(value, "keys") else value for value in values]


def _unpack(data: dict[str, Any]) -> Episode:
    trajectory, failure = data["trajectory"], data["failure"]
    return Episode(
        **{
            **data,
            "trajectory": trajectory and Trajectory(*trajectory),
            "failure": failure and Failure(**failure),
        }
    )


class KeptRollouts:
    """Rollouts kept in a run's files, so that a resumed run need not repeat them; those too large are rolled out again.

    Args:
        folder: Folder of the files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, key: str, rollout: Rollout) -> None:
        """Write a rollout if there is room."""
        if size_of(rollout.episodes) > MAX_TRAJECTORY_BYTES:
            return
        with contextlib.suppress(OSError):  # a full disk: the journal's next event says so
            make_folder(self._folder)
            text = deflate([rollout])
            if len(text) + sum(path.stat().st_size for path in self._folder.iterdir()) <= MAX_FILE_BYTES:
                write_atomically(self._folder / key, text)

    def read(self, key: str) -> Rollout | None:
        """Read the rollout under this name; None if it is missing or incomplete."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, zlib.error):
            rollout: Rollout = inflate(read_regular(self._folder / key).decode())[0]
            return rollout
        return None

    def drop(self, key: str) -> None:
        """Delete the rollout under this name."""
        with contextlib.suppress(OSError):
            (self._folder / key).unlink(missing_ok=True)
            self._folder.rmdir()


def size_of(episodes: Iterable[Episode]) -> int:
    """Estimate the size of some episodes' trajectories in bytes, from their first observations."""
    known = [episode.trajectory for episode in episodes if episode.trajectory is not None]
    return sum(
        len(trajectory.rewards) * len(plain.encode(_plain(trajectory.observations[:1])))
        for trajectory in known
    )
