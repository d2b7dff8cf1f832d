"""Classic control: units and directions that the documentation leaves open."""

from __future__ import annotations

from typing import Any

from promptpo.spec.known.base import Supplement, fields

CART_POLE = """
cart_position = obs[0]; m; of the cart's centre, positive is to the right
cart_velocity = obs[1]; m/s
pole_angle = obs[2]; rad; 0 is upright, positive leans to the right
pole_angular_velocity = obs[3]; rad/s
"""

PENDULUM = """
x_cos = obs[0]; x = cos(theta); theta is 0 when upright, and grows counter-clockwise
y_sin = obs[1]; y = sin(theta)
angular_velocity = obs[2]; rad/s; of theta
"""


def known(env: Any) -> Supplement | None:
    """What the numbers are; nothing for environments whose tables say it."""
    name = type(env).__name__
    if name == "CartPoleEnv":
        return Supplement(
            description=(
                "A pole is hinged to a cart that moves along a frictionless track. The goal is to keep the "
                "pole upright by pushing the cart to the left and to the right."
            ),
            observation=fields(CART_POLE),
            observation_note="Episodes end well inside the bounds of position and angle, see EPISODE.",
            action_note="",
        )
    if name == "PendulumEnv":
        torque = f"{-env.max_torque:g} .. {env.max_torque:g}"
        return Supplement(
            description=(
                "A pendulum hangs from a fixed point and starts at any angle. The goal is to swing it up by a "
                "torque, and to keep it upright, at rest."
            ),
            observation=fields(PENDULUM),
            action=fields(f"torque = action[0]; {torque}; N m; positive is counter-clockwise"),
            action_note="",
        )
    if name == "Continuous_MountainCarEnv":
        return Supplement(
            action=fields(
                "force = action[0]; -1 .. 1; pushes the car: -1 is full to the left, +1 to the right"
            ),
            action_note="",
        )
    return None
