"""Describe the robot of a MuJoCo model: its bodies and joints, in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

MAX_WORLD_SHAPES = 8
"""Number of fixed shapes up to which each is listed."""

MAX_CHARS, MAX_CHARS_BESIDE_SOURCE = 3500, 8000
"""Longest description, in characters; of longer ones, such as a humanoid's, only the first lines are given."""

SHAPES = {0: "plane", 2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box"}
JOINTS = {0: "moves freely", 1: "is a ball joint", 2: "slides along", 3: "turns about"}
"""Words for MuJoCo's mjtGeom and mjtJoint values."""

KEYWORDS = {
    "integrator": ("Euler", "RK4", "implicit", "implicitfast"),
    "cone": ("pyramidal", "elliptic"),
    "solver": ("PGS", "CG", "Newton"),
}
"""MJCF keywords of MuJoCo's options, indexed by value."""

ALWAYS_GIVEN = ("integrator", "gravity")
OPTIONS = (
    *ALWAYS_GIVEN,
    "density",
    "viscosity",
    "wind",
    "cone",
    "solver",
    "iterations",
    "tolerance",
    "impratio",
)
CONTACT = {name: name for name in ("friction", "condim", "margin", "gap", "priority", "solref", "solimp")}
FREE_JOINT = {name: name for name in ("stiffness", "damping", "armature", "frictionloss")}
JOINT = FREE_JOINT | {"margin": "margin", "solref": "solreflimit", "solimp": "solimplimit"}
JOINT |= {"qpos0": "ref", "qpos_spring": "springref"}
"""Model fields, given if they differ from MuJoCo's defaults, to their MJCF names."""

DEFAULT_MODEL = '<mujoco><worldbody><body><joint/><geom size="1"/></body></worldbody></mujoco>'
"""A model with MuJoCo's defaults."""

LEGEND = """\
# part on the part before it, where: mass; shapes with their half sizes (radius first), in the part's frame; joints
# with axis, place and limits. Masses apart, what is not named is MuJoCo's default. A positive angle about y turns z
# towards x."""


def body_of(env: Any, source: str = "") -> dict[str, str]:
    """Return the spec block on an unwrapped environment's robot, by name; empty if there is no model.

    Args:
        env: The environment.
        source: The environment's code that the spec shows. With it the block may be longer, or is left out if the
            code holds the model.
    """
    model: Any = getattr(env, "model", None)
    if getattr(model, "nbody", 0) <= 1 or not getattr(model, "nu", 0) or "<mujoco" in source:
        return {}
    import mujoco  # type: ignore[import-untyped]

    plain = mujoco.MjModel.from_xml_string(DEFAULT_MODEL)
    geoms, joints = list(map(model.geom, range(model.ngeom))), list(map(model.joint, range(model.njnt)))
    fixed, parts = ([g for g in geoms if (g.bodyid[0] > 0) == moves] for moves in (False, True))
    (of_world, walls), (of_parts, shapes) = (
        _differences(some, plain.geom(0), CONTACT) for some in (fixed, parts)
    )
    moving = [joint for joint in joints if joint.type[0] > 1]
    of_joints, turns = _differences(moving, plain.joint(0), JOINT)
    of_free, free = _differences([j for j in joints if j not in moving], plain.joint(0), FREE_JOINT)
    lines = [_engine(env, model, plain), *_motors(model)]
    if fixed:
        each = "; ".join(_shape(geom) + walls[geom.id] for geom in fixed)
        lines.append(f"world: {each if len(fixed) <= MAX_WORLD_SHAPES else f'{len(fixed)} shapes'}{of_world}")
    for body in map(model.body, range(1, model.nbody)):
        made = [_shape(geom) + shapes[geom.id] for geom in parts if geom.bodyid[0] == body.id]
        made += [
            _joint(joint) + (free | turns).get(joint.id, "") for joint in joints if joint.bodyid[0] == body.id
        ]
        place = f"{_name(body)} on {_name(model.body(body.parentid[0]))} at {_place(body.pos)}"
        lines.append(f"{place}: {'; '.join([f'{body.mass[0]:.4g} kg', *made])}")
    shared = (
        ("shapes of parts", _density(model) + of_parts),
        ("free and ball joints", of_free),
        (f"joints{' that slide or turn' * (moving != joints)}", of_joints),
    )
    lines += [f"all {name}: {text[2:]}" for name, text in shared if text]
    text = "\n".join([LEGEND, *lines, *_contacts(model)])
    fits = len(text) <= (MAX_CHARS_BESIDE_SOURCE if source else MAX_CHARS)
    return {"BODY": text if fits else "\n".join(lines[:2])}


def _engine(env: Any, model: Any, plain: Any) -> str:
    """Describe the time step and the global physics options."""
    items = [f"step {model.opt.timestep:.3g} s, {getattr(env, 'frame_skip', 1)} an action"]
    for name in OPTIONS:
        value = getattr(model.opt, name)
        if name in ALWAYS_GIVEN or not np.array_equal(value, getattr(plain.opt, name)):
            items.append(f"{name} {KEYWORDS[name][value] if name in KEYWORDS else _plain(value)}")
    return "; ".join(items)


def _differences(views: Sequence[Any], plain: Any, fields: Mapping[str, str]) -> tuple[str, dict[int, str]]:
    """Return differences from MuJoCo's defaults: those that all views share, and those of each view by id."""
    shared, each = "", {view.id: "" for view in views}
    for name, label in fields.items():
        usual = getattr(plain, name)
        values = {view.id: np.ravel(getattr(view, name)) for view in views}
        texts = {
            n: ""
            if np.allclose(value, usual)
            else f", {label} {_plain(value[: np.flatnonzero(~np.isclose(value, usual))[-1] + 1])}"
            for n, value in values.items()
        }
        if len({*texts.values()}) == 1:
            shared += texts[views[0].id]
        else:
            each = {n: text + texts[n] for n, text in each.items()}
    return shared, each


def _density(model: Any) -> str:
    """Return the density behind all masses; empty if there is no common one or it is MuJoCo's default."""
    a, b, c = model.geom_size.T
    ball, rod = 4 / 3 * np.pi * a**3, 2 * np.pi * a**2 * b
    volumes = {2: ball, 3: ball + rod, 5: rod, 6: 8 * a * b * c}
    each = np.select([model.geom_type == kind for kind in volumes], [*volumes.values()], np.nan)
    with np.errstate(all="ignore"):
        found = model.body_mass[1:] / np.bincount(model.geom_bodyid, each, model.nbody)[1:]
    low = np.fmin.reduce(found)
    same = np.fmax.reduce(found) < 1.001 * low and not 999 < low < 1001  # noqa: PLR2004
    return f", density {low:.4g}" if same else ""


def _contacts(model: Any) -> list[str]:
    """Describe which parts may touch each other."""
    meets = model.geom_contype[:, None] & model.geom_conaffinity
    meets, part = meets | meets.T, model.geom_bodyid > 0
    touching = "nothing touches anything"
    if meets[part].any():
        among = meets[part][:, part].any()
        touching = (
            "parts may touch the world and, unless joined, one another"
            if among
            else "parts touch the world, not one another"
        )
    apart = [
        f"{_name(model.body(n >> 16))} and {_name(model.body(n & 0xFFFF))}" for n in model.exclude_signature
    ]
    both = zip(model.pair_geom1, model.pair_geom2, strict=True)
    pairs = [f"{_name(model.geom(a))} and {_name(model.geom(b))}" for a, b in both]
    items = {"contacts": touching, "contact excluded": ", ".join(apart), "contact pairs": ", ".join(pairs)}
    items |= {"equality constraints, not told": model.neq, "tendons, not told": model.ntendon}
    return [f"{name}: {text}" for name, text in items.items() if text]


def _name(view: Any) -> str:
    return str(view.name or view.id)


def _motors(model: Any) -> list[str]:
    """Describe the gear ratios of the motors."""
    gears = [f"{float(gear):g}" for gear in model.actuator_gear[:, 0]]
    control = f"control {', '.join(gears)}" if len(set(gears)) > 1 else f"each control {gears[0]}"
    return [f"motors multiply {control}"] if set(gears) != {"1"} else []


def _shape(geom: Any) -> str:
    """Describe a shape; of a mesh only its place."""
    import mujoco

    kind, axis = SHAPES.get(int(geom.type[0]), "mesh"), np.zeros(3)
    mujoco.mju_rotVecQuat(axis, np.array([0.0, 0.0, 1.0]), geom.quat)
    along = f" along {_place(axis)}" if kind in {"capsule", "cylinder"} else ""
    size = f" {_place(geom.size[geom.size != 0])}" if kind not in {"plane", "mesh"} else ""
    return f"{kind}{size} at {_place(geom.pos)}{along}"


def _joint(joint: Any) -> str:
    """Describe a joint, with its axis and limits if it has any."""
    kind = int(joint.type[0])
    span = f" {_place(joint.range)}" if joint.limited[0] else ""
    where = f" {_place(joint.axis)} at {_place(joint.pos)}{span}" if kind > 1 else span
    return f"{joint.name} {JOINTS[kind]}{where}"


def _place(values: Any) -> str:
    return f"({', '.join(f'{float(value) + 0.0:.5g}' for value in np.round(values, 4))})"


def _plain(values: Any) -> str:
    """Format a number, or several in parentheses."""
    values = np.ravel(values)
    return _place(values) if len(values) > 1 else f"{float(values[0]):.4g}"
