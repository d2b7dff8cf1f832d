"""What a MuJoCo model file says of a robot's body and motors: static data, and nothing of how it moves."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.spec.parts import Field, identifier
from promptpo.spec.render import number, rough

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptpo.envs.spaces import AnySpace

HINGE = 3
"""MuJoCo's mjJNT_HINGE."""

SENSE = "# a positive angle about y turns z towards x, about z x towards y, about x y towards z; about -y the other way"
"""Which way joints turn: the right-hand rule, spelled out."""

NEAR = 1e-6
"""Metres that are none."""

MOST_BODIES = 20
"""Larger robots would fill the text."""

PLANE = 0
"""MuJoCo's mjGEOM_PLANE."""

SOLREF = (0.02, 1.0)
"""How soft contacts are in MuJoCo where a model says nothing."""

INTEGRATORS = {1: "Runge-Kutta", 2: "implicit", 3: "implicit"}
"""By MuJoCo's number; the first one is Euler's."""

AXES = {(1.0, 0.0, 0.0): "x", (0.0, 1.0, 0.0): "y", (0.0, 0.0, 1.0): "z"}
SHAPES = {2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box"}


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


def body_of(env: Any, space: AnySpace) -> str:
    """A table of the robot's parts: joints with their limits, masses, lengths; empty where there is none to tell."""
    model = driven(env, space)
    if model is None or not 1 < model.nbody <= MOST_BODIES:
        return ""
    lines, seen = [], dict[str, str]()
    for index in range(1, model.nbody):
        name = str(model.body(index).name or index)
        told, joints = _part(model, index), _joint_names(model, index)
        like = seen.setdefault(_without(told, joints), name)
        if like != name:  # limbs on both sides are told once
            told = ", ".join([f"like {like}", *(f"joint {joint}" for joint in joints)])
        lines.append(f"{name}{_where(model, index)}: {told}")
    there = "their value there if not 0, " if any(" there" in line for line in lines) else ""
    head = (
        f"# part on the part before, where: mass; shapes (m, in the part's frame); joints with {there}springs, damping, armature "
        "and limits, if any"
    )
    turning = any(int(kind) == HINGE for kind in model.jnt_type)
    return "\n".join([head, *([SENSE] if turning else []), _simulator(env, model), *lines])


def _simulator(env: Any, model: Any) -> str:
    """What else decides how it moves: steps, gravity, a fluid, and contacts with the ground."""
    frames = getattr(env, "frame_skip", None)
    how = [f"{frames} an action"]
    how += [INTEGRATORS[kind]] if (kind := int(model.opt.integrator)) in INTEGRATORS else []
    steps = f"steps of {float(model.opt.timestep):.3g} s ({', '.join(how)})"
    gravity = np.round(np.asarray(model.opt.gravity, dtype=float), 3)
    pulls = f"gravity {_place(gravity)}" if gravity[:2].any() else f"gravity {number(-gravity[2])}"
    said = [
        steps if isinstance(frames, int) else "",  # else a part of an action, or more
        pulls if gravity.any() else "no gravity",
        f"a fluid of density {number(float(model.opt.density))}, viscosity {number(float(model.opt.viscosity))}"
        if model.opt.density
        else "",
        _on_the_ground(model),
    ]
    return f"# simulator: {', '.join(filter(None, said))}"


def _on_the_ground(model: Any) -> str:
    """Friction and softness of contacts with a plane of the world; nothing where none can be."""
    grounds = [i for i in range(model.ngeom) if model.geom_bodyid[i] == 0 and model.geom_type[i] == PLANE]
    touching = [
        (part, ground)
        for part in range(model.ngeom)
        for ground in grounds
        if model.geom_bodyid[part] and _meet(model, part, ground)
    ]
    if not touching:
        return ""
    frictions: dict[float, list[str]] = {}
    for part, ground in touching:  # MuJoCo takes the larger one
        value = float(max(model.geom_friction[part, 0], model.geom_friction[ground, 0]))
        name = str(model.body(int(model.geom_bodyid[part])).name)
        frictions.setdefault(value, []).append(name)
    usual, *others = sorted(frictions, key=lambda value: -len(frictions[value]))
    of = "".join(f", of {' and '.join(dict.fromkeys(frictions[value]))} {value:.3g}" for value in others)
    soft = {tuple(model.geom_solref[part].tolist()) for part, _ in touching} - {SOLREF}
    solref = " ".join(f"{value:.3g}" for value in soft.pop()) if len(soft) == 1 else ""
    return f"friction on the ground {usual:.3g}{of}{f' (solref {solref})' if solref else ''}"


def _meet(model: Any, one: int, other: int) -> bool:
    """Whether two shapes can touch."""
    kinds, wants = model.geom_contype, model.geom_conaffinity
    return bool(kinds[one] & wants[other] or kinds[other] & wants[one])


def _part(model: Any, index: int) -> str:
    """What is told of a part but for its place."""
    mass = f"{float(model.body(index).mass[0]):.3g} kg"
    return "; ".join([mass, *_shapes(model, index), *_joints(model, index)])


def _joint_names(model: Any, body: int) -> list[str]:
    first = int(model.body_jntadr[body])
    return [str(model.joint(first + i).name) for i in range(int(model.body_jntnum[body]))]


def _without(told: str, joints: Sequence[str]) -> str:
    for joint in joints:
        told = told.replace(f"joint {joint} (", "joint (")
    return told


def _where(model: Any, index: int) -> str:
    body = model.body(index)
    parent = model.body(int(body.parentid[0])).name
    if parent != "world":
        return f" on {parent} at ({', '.join(rough(float(value)) for value in body.pos)})"
    free = model.njnt and int(model.jnt_type[0]) == 0  # its place is in the state
    if index > 1 or free or np.abs(body.pos).max() <= NEAR:  # what else lies about is seen
        return ""
    return f" at ({', '.join(f'{float(value):.3g}' for value in body.pos)})"


def _shapes(model: Any, body: int) -> Iterator[str]:
    for index in range(int(model.body_geomnum[body])):
        geom = model.geom(int(model.body_geomadr[body]) + index)
        shape = SHAPES.get(int(geom.type[0]))
        if shape in {"capsule", "cylinder"}:
            half = geom.size[1] * _axis_of(geom.quat)
            ends = " to ".join(_place(geom.pos + side * half) for side in (1, -1))
            yield f"{shape} {ends}, radius {geom.size[0]:.3g}"
        elif shape == "sphere":
            yield f"sphere of radius {geom.size[0]:.3g} m"
        elif shape is not None:
            yield f"{shape} of {' x '.join(f'{2 * size:.3g}' for size in geom.size)} m"


def _joints(model: Any, body: int) -> Iterator[str]:
    for index in range(int(model.body_jntnum[body])):
        joint = model.joint(int(model.body_jntadr[body]) + index)
        kind = int(joint.type[0])
        if kind not in {2, 3}:
            continue
        limited = bool(model.jnt_limited[int(model.body_jntadr[body]) + index])
        unit = "rad" if kind == HINGE else "m"
        span = f" {rough(joint.range[0])} .. {rough(joint.range[1])} {unit}" if limited else ""
        how = f"{'turns about' if kind == HINGE else 'slides along'} {_axis(joint.axis)}"
        if np.abs(joint.pos).max() > NEAR and kind == HINGE:
            how += f" at {_place(joint.pos)}"
        address = int(model.jnt_qposadr[int(model.body_jntadr[body]) + index])
        held = [f"{float(model.qpos0[address]):.3g} there"] if abs(model.qpos0[address]) > NEAR else []
        held += [
            f"{name} {float(value):.3g}"
            for name, value in (
                ("spring", joint.stiffness[0]),
                ("damping", joint.damping[0]),
                ("friction", joint.frictionloss[0]),
                ("armature", joint.armature[0]),
            )
            if value
        ]
        yield f"joint {joint.name} ({', '.join([how, *held])}){span}"


def _axis(axis: Any) -> str:
    """``y``, ``-y``, or the direction where it is slanted."""
    unit = np.asarray(axis, dtype=float).round(6)
    name = AXES.get(tuple(np.abs(unit).tolist()), "")
    return f"{'-' if unit.sum() < 0 else ''}{name}" if name else _place(unit)


def _axis_of(quaternion: Any) -> Any:
    """The direction of a shape's own z axis in the frame of its part."""
    w, x, y, z = (float(part) for part in quaternion)
    return np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])


def _place(values: Any) -> str:
    return f"({', '.join(rough(round(float(value), 6) + 0.0) for value in values)})"
