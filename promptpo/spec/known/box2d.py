"""Box2D environments, whose documentation lists their observations in prose only."""

from __future__ import annotations

from typing import Any

from promptpo.spec.known.base import Supplement, fields

LANDER = """
x = obs[0]; horizontal position, 0 is the middle of the landing pad
y = obs[1]; height, 0 is the landing pad
x_velocity = obs[2]; positive is to the right
y_velocity = obs[3]; positive is up
angle = obs[4]; rad; 0 is upright, positive is tilted to the left (counter-clockwise)
angular_velocity = obs[5]; in units of 2.5 rad/s, positive is counter-clockwise
left_leg_contact = obs[6]; 0 .. 1; 1 when the leg touches the ground
right_leg_contact = obs[7]; 0 .. 1; 1 when the leg touches the ground
"""

LANDER_ENGINES = """
main_engine = action[0]; -1 .. 1; off below 0; from 0 to 1 its power rises from 50 % to 100 %
side_engines = action[1]; -1 .. 1; off from -0.5 to 0.5; below the left one fires (accelerates to the left), above the right one, at 50 % to 100 %
"""

WALKER = """
hull_angle = obs[0]; rad; 0 is level
hull_angular_velocity = obs[1]; scaled
x_velocity = obs[2]; scaled; forward is positive
y_velocity = obs[3]; scaled
hip_1_angle = obs[4]; rad
hip_1_speed = obs[5]; scaled to -1 .. 1
knee_1_angle = obs[6]; rad; offset by +1
knee_1_speed = obs[7]; scaled to -1 .. 1
leg_1_contact = obs[8]; 1 when the lower leg touches the ground, else 0
hip_2_angle = obs[9]; rad
hip_2_speed = obs[10]; scaled to -1 .. 1
knee_2_angle = obs[11]; rad; offset by +1
knee_2_speed = obs[12]; scaled to -1 .. 1
leg_2_contact = obs[13]; 1 when the lower leg touches the ground, else 0
lidar = obs[14:24]; 10 distances to the ground as a share of the range, from straight down (first) to nearly ahead (last)
"""

WALKER_MOTORS = """
hip_1 = action[0]; -1 .. 1; the sign is the direction, the size the torque
knee_1 = action[1]; -1 .. 1
hip_2 = action[2]; -1 .. 1
knee_2 = action[3]; -1 .. 1
"""

CAR = """
steering = action[0]; -1 .. 1; -1 is full left, +1 full right
gas = action[1]; 0 .. 1
brake = action[2]; 0 .. 1
"""


def known(env: Any) -> Supplement | None:
    """Names for the numbers of a Box2D environment."""
    name = type(env).__name__
    if name == "LunarLander":
        return Supplement(
            description=(
                "Land a rocket on the pad at (0, 0), softly, upright and with both legs down. Landing outside "
                "the pad is possible. Fuel is infinite."
            ),
            observation=fields(LANDER),
            observation_note="Positions and velocities are scaled, not in metres.",
            action=fields(LANDER_ENGINES) if env.continuous else (),
            action_note=""
            if env.continuous
            else (
                "Measured: the left engine accelerates the craft to the left and turns it counter-clockwise "
                "(angle rises), the right one the reverse."
            ),
            end="The craft crashes, leaves the picture sideways (|x| >= 1), or comes to rest.",
        )
    if name == "BipedalWalker":
        return Supplement(
            description="Walk a two-legged robot forward over "
            + ("ladders, stumps and pits." if env.hardcore else "slightly uneven ground."),
            observation=fields(WALKER),
            observation_note="",
            action=fields(WALKER_MOTORS),
            action_note="",
        )
    if name == "CarRacing" and env.continuous:
        return Supplement(action=fields(CAR), action_note="", observation_note=_CAR_IMAGE)
    if name == "CarRacing":
        return Supplement(action_note="", observation_note=_CAR_IMAGE)
    return None


_CAR_IMAGE = (
    "image[row, column, channel] shows track and car from above; the bottom rows show, from left to right: "
    "speed, four wheel sensors, steering wheel, gyroscope."
)
