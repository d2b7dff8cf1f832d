"""What a MuJoCo model says of a robot's motors: what one unit of an action does."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.spec.parts import Field, identifier
from promptpo.spec.render import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo.envs.spaces import AnySpace

HINGE = 3
"""MuJoCo's mjJNT_HINGE."""


def driven(env: Any, space: AnySpace) -> Any:
    """The compiled model of an unwrapped environment whose action goes to the motors as it is; None for any other."""
    model: Any = getattr(env, "model", None)
    limits = getattr(model, "actuator_ctrlrange", None)
    if model is None or limits is None or not isinstance(space, spaces.Box) or space.shape != (model.nu,):
        return None
    straight = np.allclose(space.low, limits[:, 0]) and np.allclose(space.high, limits[:, 1])
    return model if straight and not model.nmocap else None


def with_motors(found: Sequence[Field], env: Any, space: AnySpace) -> list[Field]:
    """The components of an action with what one unit of them does: a torque, or an angle to hold."""
    model = driven(env, space)
    if model is None or len(found) != model.nu:
        return _with_like_motors(found, model) if model is not None and len(found) == 1 else list(found)
    return [_with_motor(item, model, i) for i, item in enumerate(found)]


def _with_like_motors(found: Sequence[Field], model: Any) -> list[Field]:
    """One field for all motors, where one unit of each does the same."""
    (item,) = found
    each = [_with_motor(item, model, i) for i in range(model.nu)]
    units = {(one.unit, one.meaning) for one in each}
    return [replace(item, unit=each[0].unit, meaning=each[0].meaning)] if len(units) == 1 else [item]


def _with_motor(item: Field, model: Any, index: int) -> Field:
    motor, joint = model.actuator(index), None
    if int(model.actuator_trntype[index]) == 0:  # on a joint
        joint = model.joint(int(model.actuator_trnid[index, 0]))
    if joint is None or int(joint.type[0]) not in {2, 3}:
        return item
    hinge = int(joint.type[0]) == HINGE
    gear, gain, bias = float(motor.gear[0]), float(motor.gainprm[0]), motor.biasprm
    named = replace(item, name=identifier(motor.name or joint.name) or item.name) if _is_plain(item) else item
    if bias[1] or bias[2]:
        what, letter, unit = ("position", "kp", "") if bias[1] else ("velocity", "kv", "/s")
        meaning = f"the {what} that a servo ({letter} {number(gain)}) holds"
        unit = f"{'rad' if hinge else 'm'}{unit}"
        return replace(named, unit=unit, meaning="; ".join(filter(None, [meaning, item.meaning])))
    unit = "N m" if hinge else "N"
    return replace(named, unit=unit if gear * gain == 1 else f"* {number(gear * gain)} {unit}")


def _is_plain(item: Field) -> bool:
    """Whether nothing but a number names a field."""
    return re.fullmatch(r"[ax]_\d+", item.name) is not None
