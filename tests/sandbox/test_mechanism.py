"""MuJoCo for simulators: mechanisms move in lanes, are confined and read no file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from promptpo_sandbox import Sandbox, SimulatorFailedError, Trial, check_source
from promptpo_sandbox.guest.mechanism import Mechanism
from promptpo_sandbox.simulators import Simulated, SimulatorGuest
from tests.sandbox.test_simulators import examine_with

mujoco = pytest.importorskip("mujoco")


@pytest.mark.parametrize("name", [name for name in Mechanism.__slots__ if not name.startswith("_")])
def test_gate_admits_every_attribute_of_a_mechanism(name: str) -> None:
    """Prompts list them, and a refusal would cost a repair."""
    text = CART.replace(
        "self.q, self.v = self.rng", f"self.seen = self.body.{name}; self.q, self.v = self.rng"
    )
    assert f"self.body.{name}" in text
    assert check_source(text) is None


CART = '''
import numpy as np
from mechanism import Mechanism

PARAMS = {"damping": (0.5, 0.0, 2.0)}


class Simulator:
    def __init__(self, params, rng):
        self.rng = rng
        self.body = Mechanism(f"""<mujoco><option timestep="0.01"/>@EXTRA@<worldbody><body>
            <joint name="slide" type="slide" axis="1 0 0" damping="{params['damping']}"/>
            <geom type="sphere" size="0.1" mass="1" contype="0" conaffinity="0"/></body></worldbody>
            <actuator><motor joint="slide" gear="2"/></actuator>
            <sensor><jointpos joint="slide"/></sensor></mujoco>""")

    def reset(self, n):
        self.q, self.v = self.rng.normal(size=(n, 1)), np.zeros((n, 1))
        return np.concatenate([self.q, self.v], axis=1)

    def set(self, obs):
        self.q, self.v = obs[:, :1].copy(), obs[:, 1:].copy()

    def step(self, actions):
        self.q, self.v, seen = self.body.step(self.q, self.v, actions, 5)
        return np.concatenate([seen, self.v], axis=1), -seen[:, 0] ** 2, np.zeros(len(seen), bool)
'''


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    """A sandbox for the module."""
    with Sandbox() as sandbox:
        yield sandbox


def cart(extra: str = "") -> Simulated:
    """A mass on a rail."""
    return Simulated(
        CART.replace("@EXTRA@", extra), ({"damping": 0.0},), spaces.Box(-9, 9, (2,)), spaces.Box(-1, 1, (1,))
    )


def test_mechanism_moves_in_independent_lanes(box: Sandbox) -> None:
    """According to its equations of motion."""
    with SimulatorGuest(box, cart()) as guest:
        starts, actions = np.zeros((3, 2), np.float32), np.full((4, 3, 1), 0.5, np.float32)
        obs, _, _ = guest.predict([{"damping": 0.0}, {"damping": 1.0}], starts, actions, [1, 4])
        assert obs[0, 1, :, 1] == pytest.approx(0.2, abs=1e-6)  # 1 N on 1 kg for 0.2 s
        assert obs[1, 1, 0, 1] < 0.19
        rng = np.random.default_rng(0)
        facts = examine_with(
            guest, rng.normal(size=(64, 2)).astype(np.float32), rng.uniform(-1, 1, (12, 64, 1))
        )
        assert not any(facts[name] for name in ("random", "mixed", "alone", "dropped", "restarted", "broken"))


@pytest.mark.parametrize(
    "extra", ['<include file="{path}"/>', '<asset><mesh name="m" file="{path}"/></asset>']
)
def test_mechanism_reads_no_file(box: Sandbox, tmp_path: Path, extra: str) -> None:
    """A file is refused both as an include and as a mesh."""
    path = tmp_path / "part.xml"
    path.write_text("<mujoco><worldbody/></mujoco>")
    tmp_path.chmod(0o755)
    path.chmod(0o644)
    with (
        pytest.raises(SimulatorFailedError),
        SimulatorGuest(box, cart(extra.replace("{path}", str(path)))) as guest,
    ):
        guest.start(2, 10)


def test_mujocos_error_message_is_passed_on(box: Sandbox) -> None:
    with pytest.raises(SimulatorFailedError) as failed, SimulatorGuest(box, cart("<nonsense/>")) as guest:
        guest.start(2, 10)
    assert "nonsense" in str(failed.value)


def test_policies_cannot_use_mujoco(box: Sandbox) -> None:
    import gymnasium

    source = (
        "from mechanism import Mechanism\n\n\nclass Policy:\n    def act(self, obs):\n"
        "        Mechanism('<mujoco/>')\n        return 0\n"
    )
    rollout: Any = box.rollout(source, [gymnasium.make("CartPole-v1")], [Trial(0)])
    assert "not installed" in rollout.failure.message


@pytest.mark.parametrize(
    "extra",
    [
        '<include\tfile="part.xml"/>',
        '<asset><hfield name="h" FILE = "h.bin" size="1 1 1 1"/></asset>',
        '<asset><texture type="cube" fileup="a.png"/></asset>',
        '<extension><plugin plugin="mujoco.sdf.torus"/></extension>',
    ],
)
def test_models_that_name_files_are_refused_unconfined(extra: str) -> None:
    """An exported simulator runs without a sandbox, and a file's content would become an observation."""
    with pytest.raises(ValueError, match="names no files"):
        Mechanism(f"<mujoco>{extra}<worldbody/></mujoco>")


def test_zero_lanes_are_refused() -> None:
    """MuJoCo would crash."""
    pytest.importorskip("mujoco.rollout")
    body = Mechanism("<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>")
    with pytest.raises(ValueError, match="no lanes"):
        body.step(np.zeros((0, 1)), np.zeros((0, 1)), np.zeros((0, 0)))
