"""The robot of a MuJoCo model: its parts and joints, as numbers and not as code that moves them."""

from __future__ import annotations

from typing import Any

import numpy as np

LONGEST, LONGEST_BESIDE_SOURCE = 3500, 8000
"""Characters; of a robot that takes more, as a humanoid does, only the first lines are told."""

SHAPES = {2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box"}
JOINTS = {2: "slides along", 3: "turns about"}
"""By MuJoCo's numbers (mjtGeom, mjtJoint)."""

LEGEND = """\
# part on the part before it, where: mass; shapes with their half sizes (radius first), in the part's frame; joints
# with axis, place, limits, spring, damping and armature. A positive angle about y turns z towards x."""


def body_of(env: Any, source: str = "") -> dict[str, str]:
    """The block on an unwrapped environment's robot, by its name; empty where there is no model.

    Args:
        env: The environment.
        source: What is shown of its code, where a longer robot may stand, and none that is written there already.
    """
    model: Any = getattr(env, "model", None)
    if getattr(model, "nbody", 0) <= 1 or not getattr(model, "nu", 0) or "<mujoco" in source:
        return {}
    lines = [_engine(env, model), *_motors(model)]
    for body in map(model.body, range(1, model.nbody)):
        shapes = (model.geom(body.geomadr[0] + n) for n in range(body.geomnum[0]))
        joints = (model.joint(body.jntadr[0] + n) for n in range(body.jntnum[0]))
        told = [f"{body.mass[0]:.3g} kg", *map(_shape, shapes), *map(_joint, joints)]
        parent = model.body(body.parentid[0])
        place = f"{body.name or body.id} on {parent.name or parent.id} at {_place(body.pos)}"
        lines.append(f"{place}: {'; '.join(filter(None, told))}")
    lines.append(_constraints(model))
    text = "\n".join([LEGEND, *lines])
    fits = len(text) <= (LONGEST_BESIDE_SOURCE if source else LONGEST)
    return {"BODY": text if fits else "\n".join(lines[:2])}


def _engine(env: Any, model: Any) -> str:
    """How time passes, and what pulls on every part."""
    import mujoco  # type: ignore[import-untyped]

    integrator = mujoco.mjtIntegrator(model.opt.integrator).name.removeprefix("mjINT_")
    steps = (
        f"step {model.opt.timestep:.3g} s, {getattr(env, 'frame_skip', 1)} an action, integrator {integrator}"
    )
    fluid = {"density": model.opt.density, "viscosity": model.opt.viscosity}
    medium = "".join(f"; {name} {value:g}" for name, value in fluid.items() if value)
    return f"{steps}; gravity {_place(model.opt.gravity)}{medium}"


def _constraints(model: Any) -> str:
    """Name what may touch what, and the softness of contacts and joint limits where it is the same for all of them."""
    meets = model.geom_contype[:, None] & model.geom_conaffinity
    meets, part = meets | meets.T, model.geom_bodyid > 0
    touching, told = "nothing touches anything", []
    if meets[part].any():
        among = meets[part][:, part].any()
        touching = (
            "parts may touch the world and, unless joined, one another"
            if among
            else "parts touch the world, not one another"
        )
        told += _softness("", model.geom_solref, model.geom_solimp)
        margin = model.geom_margin[0]
        told += [f"margin {margin:.3g}"] if margin and np.all(model.geom_margin == margin) else []
        told += [f"friction of the floor {model.geom_friction[0, 0]:.3g}"] if model.geom_type[0] == 0 else []
    limited = model.jnt_limited > 0
    told += _softness("limits of joints: ", model.jnt_solref[limited], model.jnt_solimp[limited])
    return "; ".join([f"contacts: {touching}", *told])


def _softness(name: str, reference: Any, impedance: Any) -> list[str]:
    """MuJoCo's two vectors for some constraints; nothing where they differ among them."""
    every = np.unique(np.hstack([reference, impedance[:, :3]]), axis=0)
    return [f"{name}solref {_place(row[:2])}, solimp {_place(row[2:])}" for row in every if len(every) == 1]


def _motors(model: Any) -> list[str]:
    """By what motors multiply the numbers of an action."""
    gears = [f"{float(gear):g}" for gear in model.actuator_gear[:, 0]]
    told = f"control {', '.join(gears)}" if len(set(gears)) > 1 else f"each control {gears[0]}"
    return [f"motors multiply {told}"] if set(gears) != {"1"} else []


def _shape(geom: Any) -> str:
    """A shape; empty where it is none of those that are told, as a mesh is."""
    import mujoco

    kind, axis = SHAPES.get(int(geom.type[0])), np.zeros(3)
    mujoco.mju_rotVecQuat(axis, np.array([0.0, 0.0, 1.0]), geom.quat)
    along = f" along {_place(axis)}" if kind in {"capsule", "cylinder"} else ""
    told = f"{kind} {_place(geom.size[geom.size != 0])} at {_place(geom.pos)}{along}, friction {geom.friction[0]:.3g}"
    return told if kind else ""


def _joint(joint: Any) -> str:
    """A hinge or a slide; empty where it is another one."""
    how = JOINTS.get(int(joint.type[0]))
    if how is None:
        return ""
    held = {"spring": joint.stiffness[0], "damping": joint.damping[0], "armature": joint.armature[0]}
    span = f" {_place(joint.range)}" if joint.limited[0] else ""
    told = "".join(f", {name} {value:.3g}" for name, value in held.items() if value)
    return f"{joint.name} {how} {_place(joint.axis)} at {_place(joint.pos)}{span}{told}"


def _place(values: Any) -> str:
    return f"({', '.join(f'{float(value) + 0.0:.3g}' for value in np.round(values, 4))})"
