"""The pendulum as a simulator in the guest, with candidates for a program that swings it up."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from promptpo_sandbox.simulators import Simulated
from tests.promptpo.simulator.sources import PENDULUM

PENDULUM_SPACES = (
    spaces.Box(np.array([-1, -1, -8], np.float32), np.array([1, 1, 8], np.float32)),
    spaces.Box(-2, 2, (1,)),
)
VALUES = {"g": 10.0, "m": 1.0, "unused": 0.0}
CANDIDATES = [{"kp": kp, "kd": 1.0, "near": 0.8, "k": 0.5, "idle": 0.0} for kp in (5.0, 15.0, -5.0)]


def pendulum(source: str = PENDULUM, vectors: Any = (VALUES,)) -> Simulated:
    """The pendulum, or a variant of it."""
    return Simulated(source, tuple(vectors), *PENDULUM_SPACES)


def variant(old: str, new: str) -> str:
    """Return the pendulum's source with a change."""
    assert old in PENDULUM
    return PENDULUM.replace(old, new)
