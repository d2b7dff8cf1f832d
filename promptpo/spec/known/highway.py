"""highway-env: what rows and columns of an observation mean is a matter of configuration."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from promptpo.spec.known.base import Supplement
from promptpo.spec.parts import ActionValue, Field

if TYPE_CHECKING:
    from collections.abc import Sequence

MEANING = {
    "presence": "1 when there is a vehicle in this row, else 0",
    "x": "position in x",
    "y": "position in y",
    "vx": "velocity along x",
    "vy": "velocity along y",
    "heading": "direction in rad",
    "cos_h": "cosine of the direction",
    "sin_h": "sine of the direction",
    "cos_d": "cosine of the direction to the destination",
    "sin_d": "sine of the direction to the destination",
    "on_road": "1 where there is road",
}
CONTROLS = {
    "LANE_LEFT": "change to the lane on the left",
    "IDLE": "keep lane and speed",
    "LANE_RIGHT": "change to the lane on the right",
    "FASTER": "raise the speed to hold",
    "SLOWER": "lower the speed to hold",
}

UNDOCUMENTED = {
    "IntersectionEnv": "Cross an intersection without traffic lights, where others cross too, and leave it on "
    "the planned road without a collision. The way is planned for you; the actions only set the speed.",
}
"""Classes that say nothing about their task, and what it is."""


def known(env: Any) -> Supplement:
    """Observation and action of a highway-env environment, as it is configured."""
    observation = env.observation_type
    kind = type(observation).__name__
    if kind == "KinematicsGoalObservation":
        found, note = _goal(observation)
    elif kind == "KinematicObservation":
        found, note = _vehicles(observation)
    elif kind == "OccupancyGridObservation":
        found, note = _grid(observation)
    else:
        found, note = (), None
    return Supplement(
        description=_description(type(env)),
        observation=found,
        observation_note=note,
        choices=_choices(env.action_type),
        action=_controls(env.action_type),
        action_note="Lane changes and speeds that the road does not allow have no effect."
        if _choices(env.action_type)
        else "",
    )


def _description(cls: type[Any]) -> str:
    """The documentation of the task itself, where the class is a variant of it; ours where it has none."""
    texts = (
        inspect.cleandoc(base.__dict__.get("__doc__") or UNDOCUMENTED.get(base.__name__, ""))
        for base in cls.__mro__
    )
    return next((text for text in texts if text and not re.search("variant|mixin", text)), "")


def _choices(action_type: Any) -> Sequence[ActionValue]:
    names = getattr(action_type, "actions", None)
    if not isinstance(names, dict):
        return ()
    return tuple(ActionValue(name, value, CONTROLS.get(name, "")) for value, name in names.items())


def _controls(action_type: Any) -> Sequence[Field]:
    if type(action_type).__name__ != "ContinuousAction":
        return ()
    parts = []
    if action_type.longitudinal:
        low, high = action_type.acceleration_range
        parts.append(("acceleration", f"-1 is {low:g} m/s^2, +1 is {high:g} m/s^2"))
    if action_type.lateral:
        low, high = action_type.steering_range
        parts.append(("steering", f"-1 is {low:.3g} rad, +1 is {high:.3g} rad; positive turns towards +y"))
    return tuple(Field(name, f"action[{i}]", -1, 1, meaning=text) for i, (name, text) in enumerate(parts))


def _scale(observation: Any, feature: str) -> str:
    ranges = observation.features_range or {}
    if not observation.normalize or feature not in ranges:
        return ""
    low, high = ranges[feature]
    return f", -1 .. 1 stands for {low:g} .. {high:g}"


def _vehicles(observation: Any) -> tuple[Sequence[Field], str]:
    names = list(observation.features)
    columns = "; ".join(f"{i} {n}: {MEANING.get(n, n)}{_scale(observation, n)}" for i, n in enumerate(names))
    order = "nearest first" if observation.order == "sorted" else "in random order"
    reference = "absolute" if observation.absolute else "relative to your own vehicle"
    rows = observation.vehicles_count
    return (
        (
            Field("ego", "obs[0]", form=f"{len(names)} numbers", meaning="your own vehicle, absolute values"),
            Field(
                "others",
                f"obs[1:{rows}]",
                form=f"{rows - 1} rows of {len(names)} numbers",
                meaning=f"other vehicles, {order}, values {reference}; rows of zeros where there are fewer",
            ),
        ),
        f"Columns of every row: {columns}. Metres and m/s; where the road is straight, +x points along it, +y to its right.",
    )


def _goal(observation: Any) -> tuple[Sequence[Field], str]:
    found = [
        Field(
            f"{key.removesuffix('_goal')}_{name}" if key != "observation" else name,
            f'obs["{key}"][{i}]',
            meaning=MEANING.get(name, name) + (f", divided by {scale:g}" if scale != 1 else ""),
        )
        for key in ("observation", "desired_goal", "achieved_goal")
        for i, (name, scale) in enumerate(zip(observation.features, observation.scales, strict=True))
    ]
    return tuple(found), "desired_goal is where to park; achieved_goal repeats the vehicle's own values."


def _grid(observation: Any) -> tuple[Sequence[Field], str]:
    names = list(observation.features)
    (x_low, x_high), (y_low, y_high) = observation.grid_size
    layers = tuple(
        Field(n, f"obs[{i}]", form="2-d array", meaning=MEANING.get(n, n)) for i, n in enumerate(names)
    )
    step = observation.grid_step
    aligned = (
        "turned with the vehicle" if observation.align_to_vehicle_axes else "aligned with the world's axes"
    )
    return layers, (
        f"Each layer is a grid around the vehicle, {aligned}: first index along x from {x_low:g} to {x_high:g} m, "
        f"second along y from {y_low:g} to {y_high:g} m, in cells of {step[0]:g} by {step[1]:g} m."
    )
