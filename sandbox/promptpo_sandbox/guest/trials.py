"""Checks of a simulator before time is spent on it: whether its lanes are independent, and how it behaves."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from promptpo_sandbox.guest.lanes import Array, LaneSimulator, find_shared_numbers

LANES = 256
"""Number of lanes in a full batch."""

RELATIVE = 1e-4
"""Relative difference between the same lane in two batches that counts as rounding."""


def examine(make: Callable[[], LaneSimulator], request: dict[str, Any]) -> dict[str, Any]:
    """Return facts about a simulator.

    Args:
        make: Makes a fresh simulator.
        request: ``starts``, recorded observations, and ``actions`` for a few steps of LANES lanes.
    """
    starts, actions = request["starts"], request["actions"]
    first = make()
    initial = first.reset(LANES)
    began = process_time()
    _rows(first, None, actions)
    seconds = process_time() - began
    whole, again = _rows(make(), starts, actions), _rows(_other(make), starts, actions)
    random = _differ(whole, again)
    facts: dict[str, Any] = {
        "initial": initial.astype(float),
        "random": random,
        "seconds_per_batch": seconds / len(actions),
        "broken": first.broken,
        "shared": _find_shared(make, starts, actions),
    }
    if not random:
        order = np.random.default_rng(0).permutation(len(starts))
        permuted = _rows(make(), starts[order], actions[:, order])
        facts["mixed"] = _differ(permuted, whole[:, order])
        alone = [_rows(make(), starts[i : i + 1], actions[:, i : i + 1]) for i in (0, len(starts) // 2)]
        facts["alone"] = any(
            _differ(lone, whole[:, i : i + 1]) for lone, i in zip(alone, (0, len(starts) // 2), strict=True)
        )
        facts["dropped"] = _mixes_dropped(make(), starts, actions, whole)
        facts["restarted"] = _mixes_restarted(make(), starts, actions, whole)
    return facts


def _other(make: Callable[[], LaneSimulator]) -> LaneSimulator:
    """Make the simulator with other random numbers."""
    lanes = make()
    lanes.reseed(77)
    return lanes


def _rows(lanes: LaneSimulator, starts: Array | None, actions: Array) -> Array:
    if starts is not None:
        lanes.set(starts)
    return np.stack([lanes.step(row)[0] for row in actions])


def _differ(first: Array, second: Array) -> bool:
    first, second = first.astype(float), second.astype(float)
    scale = RELATIVE * (1.0 + np.maximum(np.abs(first), np.abs(second)))
    return bool((np.abs(first - second) > scale).any())


def _mixes_dropped(lanes: LaneSimulator, starts: Array, actions: Array, whole: Array) -> bool:
    """Whether dropping lanes changes the remaining ones."""
    half = len(actions) // 2
    _rows(lanes, starts, actions[:half])
    stays = np.arange(len(starts)) % 3 != 1
    lanes.keep(stays)
    return _differ(_rows(lanes, None, actions[half:, stays]), whole[half:, stays])


def _mixes_restarted(lanes: LaneSimulator, starts: Array, actions: Array, whole: Array) -> bool:
    """Whether restarting some lanes changes the others."""
    half = len(actions) // 2
    _rows(lanes, starts, actions[:half])
    anew = np.arange(len(starts)) % 3 == 1
    lanes.restart(anew)
    rows = _rows(lanes, None, actions[half:])
    return _differ(rows[:, ~anew], whole[half:, ~anew])


def _find_shared(make: Callable[[], LaneSimulator], starts: Array, actions: Array) -> list[str]:
    """Return the names of numbers that all lanes share and that steps change."""
    lanes = make()
    lanes.set(starts)
    before = find_shared_numbers(lanes.members[0])
    for row in actions[:3]:
        lanes.step(row)
    after = find_shared_numbers(lanes.members[0])
    return sorted(name for name, value in after.items() if before.get(name, value) != value)
