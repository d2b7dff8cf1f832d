"""A guess which observation entries belong to which actuator, from the shapes of the spaces alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gymnasium import spaces


@dataclass(frozen=True, slots=True)
class Joints:
    """Indices into the observation.

    Attributes:
        positions: Position of each actuated joint.
        velocities: Velocity of each actuated joint.
        posture: Entries that belong to no actuated joint.
        first_velocity: Entries from here on are velocities.
    """

    positions: tuple[int, ...]
    velocities: tuple[int, ...]
    posture: tuple[int, ...]
    first_velocity: int


def guess_joints(space: spaces.Space[Any], actuators: int) -> Joints | None:
    """Guess the layout of a legged or jointed body's observation.

    Many simulated bodies report all positions, less one or two that must not matter, and then all
    velocities, with the actuated joints last in both. So with n entries there are (n + 1) / 2
    velocities, or (n + 2) / 2 where that is not whole. It is a guess: where it is wrong, tuning finds
    the feedback terms useless and turns them down. It is the better a guess where the observation has no
    bounds, as raw positions and velocities have none.

    Args:
        space: The observation space.
        actuators: Number of actuators.

    Returns:
        None where the shapes do not allow such a layout.
    """
    if not isinstance(space, spaces.Box) or len(space.shape) != 1:
        return None
    n = int(space.shape[0])
    velocities = (n + 1) // 2 if n % 2 else (n + 2) // 2
    positions = n - velocities
    if positions < actuators or n > 6 * actuators + 12:
        return None
    position = tuple(range(positions - actuators, positions))
    velocity = tuple(range(n - actuators, n))
    rest = tuple(i for i in range(n) if i not in {*position, *velocity})
    return Joints(position, velocity, rest, positions)
