"""MuJoCo bodies in specs: every setting that differs from MuJoCo's default is listed, and no other."""

from types import SimpleNamespace
from typing import Any

import pytest

from promptpo.spec.body import body_of
from tests.promptpo.envs.test_building import needs

pytestmark = needs("mujoco")

ROBOT = """<mujoco><option {option}/><worldbody><geom name="floor" type="plane" size="1 1 1" {floor}/>
<body name="arm"><joint name="shoulder" axis="0 1 0" {joint}/><geom name="upper" type="capsule" size=".05 .2" {shape}/>
<body name="hand" pos="0 0 .5"><joint name="wrist" axis="0 1 0" {joint}/><geom name="palm" type="sphere" size=".1" {shape} {palm}/></body></body>
</worldbody><actuator><motor joint="shoulder"/></actuator><contact>{contact}</contact></mujoco>"""
NOTHING = dict.fromkeys(("option", "floor", "joint", "shape", "palm", "contact"), "")

CASES = [
    ("option", 'cone="elliptic"', "cone elliptic"),
    ("option", 'solver="CG"', "solver CG"),
    ("option", 'integrator="implicitfast"', "integrator implicitfast"),
    ("option", 'iterations="7"', "iterations 7"),
    ("option", 'viscosity="0.25"', "viscosity 0.25"),
    ("option", 'wind="1 0 0"', "wind (1, 0, 0)"),
    ("shape", 'condim="1"', "all shapes of parts: condim 1"),
    ("shape", 'friction="0.5"', "all shapes of parts: friction 0.5"),
    ("shape", 'solimp="0.8 0.8"', "all shapes of parts: solimp (0.8, 0.8)"),
    ("shape", 'density="250"', "arm on world at (0, 0, 0): 0.9163 kg"),
    ("shape", 'density="250"', "all shapes of parts: density 250"),
    ("palm", 'condim="4"', "sphere (0.1) at (0, 0, 0), condim 4"),
    ("palm", 'margin="0.01"', "sphere (0.1) at (0, 0, 0), margin 0.01"),
    ("floor", 'friction="2"', "world: plane at (0, 0, 0), friction 2"),
    ("joint", 'damping="3"', "all joints: damping 3"),
    ("joint", 'margin="0.01"', "all joints: margin 0.01"),
    ("joint", 'limited="true" range="-100 100"', "(-1.7453, 1.7453)"),
    ("joint", 'frictionloss="0.5"', "all joints: frictionloss 0.5"),
    ("joint", 'solimplimit="0 0.8 0.03"', "all joints: solimplimit (0, 0.8, 0.03)"),
    ("joint", 'ref="0.5"', "all joints: ref"),
    ("contact", '<exclude body1="arm" body2="hand"/>', "contact excluded: arm and hand"),
    ("contact", '<pair geom1="floor" geom2="palm"/>', "contact pairs: floor and palm"),
]


def body_block(**changes: str) -> str:
    """Return the spec's block on a robot with these MJCF attributes."""
    mujoco: Any = pytest.importorskip("mujoco")

    model: Any = mujoco.MjModel.from_xml_string(ROBOT.format(**{**NOTHING, **changes}))
    return body_of(SimpleNamespace(model=model))["BODY"]


@pytest.mark.parametrize(("where", "written", "says"), CASES)
def test_non_default_settings_are_listed(where: str, written: str, says: str) -> None:
    """Settings shared by all shapes or joints take one line."""
    assert says in body_block(**{where: written})
    assert says not in body_block()


@pytest.mark.parametrize("shape", ["sphere", "capsule", "cylinder", "box"])
def test_density_is_listed_if_it_determines_all_masses(shape: str) -> None:
    """A part with a mass of its own makes the density misleading."""
    palm = f'type="{shape}" size=".1 .2 .3"'
    mujoco: Any = pytest.importorskip("mujoco")
    text = ROBOT.replace('type="sphere" size=".1"', palm)
    for mass, says in (("", True), ('mass="3"', False)):
        changes = {**NOTHING, "shape": 'density="40"', "palm": mass}
        model: Any = mujoco.MjModel.from_xml_string(text.format(**changes))
        assert ("density 40" in body_of(SimpleNamespace(model=model))["BODY"]) == says


def test_default_settings_are_not_listed() -> None:
    text = body_block()
    assert "integrator Euler; gravity (0, 0, -9.81)\n" in text
    assert not any(
        word in text
        for word in ("condim", "solimp", "margin", "armature", "all shapes", "all joints", "not told")
    )


@pytest.mark.parametrize(("kind", "root"), [("free", ""), ("ball", 'damping="2"')])
def test_hinge_settings_are_not_attributed_to_free_and_ball_joints(kind: str, root: str) -> None:
    """A free root is undamped even if all hinges are damped; damping of its own is listed separately."""
    mujoco: Any = pytest.importorskip("mujoco")
    text = ROBOT.format(**{**NOTHING, "joint": 'damping="3"'})
    text = text.replace('<joint name="shoulder" axis="0 1 0" damping="3"/>', f'<joint type="{kind}" {root}/>')
    text = text.replace('<motor joint="shoulder"/>', '<motor joint="wrist"/>')
    body = body_of(SimpleNamespace(model=mujoco.MjModel.from_xml_string(text)))["BODY"]
    assert "all joints that slide or turn: damping 3" in body
    assert ("all free and ball joints: damping (2" in body) == bool(root)
    assert "\nall joints:" not in body
    assert "all free and ball joints: ref" not in body
