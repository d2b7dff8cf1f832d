"""What a MuJoCo model says of a robot: its parts and joints, as numbers and not as code that moves them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

LONGEST = 3500
"""Characters; a robot that takes more, as a humanoid does, would fill the text."""

SHAPES = {2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box"}
JOINTS = {2: "slides along", 3: "turns about"}
"""By MuJoCo's numbers (mjtGeom, mjtJoint)."""

HEAD = """\
# part on the part before it, where: mass; shapes with their half sizes (radius first), in the part's frame; joints
# with axis, place, limits, spring, damping and armature. A positive angle about y turns z towards x."""


def body_of(env: Any) -> str:
    """The block of an unwrapped environment's robot; empty where there is no model, or a long one."""
    model: Any = getattr(env, "model", None)
    if getattr(model, "nbody", 0) <= 1 or not getattr(model, "nu", 0):
        return ""
    steps = f"step {model.opt.timestep:.3g} s, {getattr(env, 'frame_skip', 1)} an action"
    lines = [f"{steps}; gravity {_place(model.opt.gravity)}"]
    for n in range(1, model.nbody):
        body = model.body(n)
        parent = model.body(int(body.parentid[0])).name
        told = [f"{float(body.mass[0]):.3g} kg", *_shapes(model, n), *_joints(model, n)]
        lines.append(f"{body.name or n} on {parent} at {_place(body.pos)}: {'; '.join(told)}")
    text = "\n".join([HEAD, *lines])
    return text if len(text) <= LONGEST else ""


def _shapes(model: Any, body: int) -> Iterator[str]:
    first = int(model.body_geomadr[body])
    for n in range(first, first + int(model.body_geomnum[body])):
        kind = SHAPES.get(int(model.geom_type[n]))
        if kind is not None:
            axis = np.array([0.0, 0.0, 1.0])
            w, turn = model.geom_quat[n][0], model.geom_quat[n][1:]
            axis = axis + 2 * np.cross(turn, np.cross(turn, axis) + w * axis)
            along = f" along {_place(axis)}" if kind in {"capsule", "cylinder"} else ""
            size = model.geom_size[n][model.geom_size[n] != 0]
            yield f"{kind} {_place(size)} at {_place(model.geom_pos[n])}{along}, friction {model.geom_friction[n, 0]:.3g}"


def _joints(model: Any, body: int) -> Iterator[str]:
    first = int(model.body_jntadr[body])
    for n in range(first, first + int(model.body_jntnum[body])):
        how = JOINTS.get(int(model.jnt_type[n]))
        if how is not None:
            dof = int(model.jnt_dofadr[n])
            held = {
                "spring": model.jnt_stiffness[n],
                "damping": model.dof_damping[dof],
                "armature": model.dof_armature[dof],
            }
            span = f" {_place(model.jnt_range[n])}" if model.jnt_limited[n] else ""
            told = "".join(f", {name} {value:.3g}" for name, value in held.items() if value)
            yield f"{model.joint(n).name} {how} {_place(model.jnt_axis[n])} at {_place(model.jnt_pos[n])}{span}{told}"


def _place(values: Sequence[float]) -> str:
    return f"({', '.join(f'{float(value) + 0.0:.3g}' for value in np.round(values, 4))})"
