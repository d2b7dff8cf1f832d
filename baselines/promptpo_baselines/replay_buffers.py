"""Replay buffers on disk: the transitions that are there, without the room for those to come."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.save_util import save_to_pkl


def save_filled(model: Any, path: Path) -> None:
    """Write the replay buffer of an off-policy learner: a million transitions of a body are a gigabyte, mostly zeros."""
    buffer = model.replay_buffer
    if not buffer.full:
        small, size = copy.copy(buffer), buffer.buffer_size
        for name, value in vars(buffer).items():
            setattr(small, name, _resized(value, size, buffer.pos))
        buffer = small
    save_to_pkl(path, buffer)


def load_filled(model: Any, path: Path) -> None:
    """Read what `save_filled` wrote, with room for what is to come."""
    model.load_replay_buffer(path)
    buffer = model.replay_buffer
    if not buffer.full:
        for name, value in vars(buffer).items():
            setattr(buffer, name, _resized(value, buffer.pos, buffer.buffer_size))


def _resized(value: Any, rows: int, to: int) -> Any:
    """Arrays of so many transitions cut, or followed by zeros; whatever else a buffer has as it is."""
    if isinstance(value, dict):
        return {name: _resized(part, rows, to) for name, part in value.items()}
    if not isinstance(value, np.ndarray) or value.ndim == 0 or len(value) != rows:
        return value
    if to <= rows:
        return value[:to].copy()
    longer = np.zeros((to, *value.shape[1:]), value.dtype)
    longer[:rows] = value
    return longer
