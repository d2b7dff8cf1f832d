"""What a run keeps in files beside its journal: trajectories that a world model learns from, and pictures of prompts.

Files hold compact, plain data, never pickle.
"""

from __future__ import annotations

import base64
import contextlib
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from promptpo.files import MOST_BYTES, make_folder, read_regular, write_atomically
from promptpo.llm.base import Still
from promptpo.run.journal import writing
from promptpo_sandbox import Episode, Failure, Rollout, Trajectory
from promptpo_sandbox.guest import plain

PICTURES = "pictures"
"""Their folder in a run's directory."""


def deflate(rollouts: Sequence[Rollout]) -> str:
    """Rollouts, trajectories included, as one short string."""
    value = [(rollout.steps, [_packed(episode) for episode in rollout.episodes]) for rollout in rollouts]
    return base64.b85encode(zlib.compress(plain.encode(value))).decode()


def inflate(text: str) -> list[Rollout]:
    """What `deflate` was given, without output and timing.

    Raises:
        ValueError: It is no such string.
    """
    opened = zlib.decompressobj()
    try:
        data = opened.decompress(base64.b85decode(text), MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"these are no rollouts: {error}") from error
    if not opened.eof:
        raise ValueError("the packed rollouts are damaged, or far too large")
    value = plain.decode(data)
    return [Rollout(tuple(map(_unpacked, episodes)), None, steps, "", 0.0) for steps, episodes in value]


def _packed(episode: Episode) -> dict[str, Any]:
    data = {one.name: getattr(episode, one.name) for one in fields(episode)}
    trajectory, failure = episode.trajectory, episode.failure
    return {
        **data,
        "policy_seconds": 0.0,
        "parts": dict(episode.parts),
        "trajectory": trajectory and [_plain(getattr(trajectory, one.name)) for one in fields(trajectory)],
        "failure": failure and asdict(failure),
    }


def _plain(values: Sequence[Any]) -> list[Any]:
    return [dict(value) if hasattr(value, "keys") else value for value in values]


def _unpacked(data: dict[str, Any]) -> Episode:
    trajectory, failure = data["trajectory"], data["failure"]
    return Episode(
        **{
            **data,
            "trajectory": trajectory and Trajectory(*trajectory),
            "failure": failure and Failure(**failure),
        }
    )


def keep(rollout: Rollout, path: Path, most_bytes: int) -> None:
    """Write a rollout, where there is room.

    Args:
        rollout: Which a resumed run learns from again.
        path: Of the file.
        most_bytes: What all files of its folder may take.
    """
    with contextlib.suppress(OSError):  # a full disk: the journal's next event says so
        make_folder(path.parent)
        text = deflate([rollout])
        if len(text) + sum(other.stat().st_size for other in path.parent.iterdir()) <= most_bytes:
            write_atomically(path, text)


def kept(path: Path) -> Rollout | None:
    """What was kept in a file; None where there is nothing, or nothing whole."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, zlib.error):
        return inflate(read_regular(path).decode())[0]
    return None


def size_of(episodes: Iterable[Episode]) -> int:
    """About how many bytes the trajectories of some episodes take, by their first observations."""
    known = [one.trajectory for one in episodes if one.trajectory is not None]
    return sum(len(one.rewards) * len(plain.encode(_plain(one.observations[:1]))) for one in known)


def written(still: Still, folder: Path) -> Still:
    """The picture with its file on the disk, whole: when this returns, the journal may name it.

    Raises:
        RunError: The disk does not take it (full, or gone).
    """
    path = folder / f"{still.digest}.png"
    with writing(folder.parent):
        if not path.exists():
            make_folder(folder)
            write_atomically(path, still.png, synced=True)
    return replace(still, path=str(path.absolute()))
