"""Rollouts in and out of the journal: compact, plain data, never pickle."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any

from promptpo.files import MOST_BYTES
from promptpo.run.journal import from_json, to_json
from promptpo_sandbox import Episode, Failure, Rollout, Trajectory

LARGEST_ITEM = 1024
"""Bytes of one entry of an array."""


def deflate(rollouts: Sequence[Rollout]) -> str:
    """Rollouts of a tuning batch, trajectories included, as one short string."""
    value = [_packed(rollout) for rollout in rollouts]
    return base64.b85encode(zlib.compress(json.dumps(value).encode())).decode()


def inflate(text: str) -> list[Rollout]:
    """What `deflate` was given, without output and timing."""
    opened = zlib.decompressobj()
    data = opened.decompress(base64.b85decode(text), MOST_BYTES)
    if not opened.eof:
        raise ValueError("the packed rollouts are damaged, or far too large")
    return [_unpacked(one) for one in json.loads(data)]


def _packed(rollout: Rollout) -> Any:
    return {"steps": rollout.steps, "episodes": [_packed_episode(episode) for episode in rollout.episodes]}


def _packed_episode(episode: Episode) -> Any:
    data: dict[str, Any] = {
        "seed": episode.seed,
        "return_": episode.return_,
        "steps": episode.steps,
        "terminated": episode.terminated,
        "truncated": episode.truncated,
        "success": episode.success,
        "clipped": episode.clipped,
        "policy_seconds": 0.0,
        "failure": None if episode.failure is None else to_json(episode.failure),
        "trajectory": None,
    }
    if episode.env_return is not None:
        data |= {"env_return": episode.env_return, "parts": dict(episode.parts)}
    if episode.extremes:
        data["extremes"] = list(episode.extremes)
    if episode.trajectory is not None:
        trajectory = episode.trajectory
        data["trajectory"] = [
            [_tagged(obs) for obs in trajectory.observations],
            [_tagged(action) for action in trajectory.actions],
            [float(reward) for reward in trajectory.rewards],
            [dict(kept) for kept in trajectory.debug],
            [dict(info) for info in trajectory.infos],
        ]
    return data


def _unpacked(data: Any) -> Rollout:
    return Rollout(
        episodes=tuple(_unpacked_episode(episode) for episode in data["episodes"]),
        failure=None,
        steps=data["steps"],
        output="",
        policy_seconds=0.0,
    )


def _unpacked_episode(data: dict[str, Any]) -> Episode:
    trajectory = data["trajectory"]
    if trajectory is not None:
        observations, actions, rewards, debug, infos = trajectory
        trajectory = Trajectory(
            [_untagged(obs) for obs in observations],
            [_untagged(action) for action in actions],
            rewards,
            debug or (),
            infos or (),
        )
    failure = None if data["failure"] is None else from_json(Failure, data["failure"])
    extremes = tuple(data.get("extremes", ()))
    return Episode(**{**data, "failure": failure, "trajectory": trajectory, "extremes": extremes})


def _tagged(value: Any) -> Any:
    """JSON for observations, actions and what policies perceive; tuples, arrays and bytes stay what they are."""
    import numpy as np

    if isinstance(value, np.ndarray):
        return {"array": value.tolist(), "dtype": str(value.dtype)}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bytes):
        return {"bytes": base64.b85encode(value).decode()}
    if isinstance(value, list):
        return [_tagged(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [_tagged(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": {key: _tagged(item) for key, item in value.items()}}
    return value


def _untagged(value: Any) -> Any:
    import numpy as np

    if isinstance(value, list):
        return [_untagged(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "bytes" in value:
        return base64.b85decode(value["bytes"])
    if "array" in value:
        dtype = np.dtype(value["dtype"])
        if dtype.itemsize > LARGEST_ITEM:
            raise ValueError("no array of numbers or short texts")
        return np.asarray(value["array"], dtype=dtype)
    if "tuple" in value:
        return tuple(_untagged(item) for item in value["tuple"])
    return {key: _untagged(item) for key, item in value["dict"].items()}
