"""Rollouts in and out of files: compact, plain data, never pickle."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from promptpo.files import MOST_BYTES
from promptpo_sandbox import Episode, Failure, Rollout, Trajectory
from promptpo_sandbox.guest import plain


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
