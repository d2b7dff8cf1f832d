"""The exported simulator as a Gymnasium environment."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from promptpo.simulator.contract import Simulation
from promptpo.simulator.export import environment_file
from tests.promptpo.simulator.test_engine import fitted


def test_exported_file_is_an_environment(tmp_path: Path) -> None:
    """It needs no promptpo and can be vectorised."""
    path = tmp_path / "simulated.py"
    path.write_text(environment_file(fitted(), "Simulated/Pendulum-v0"))
    spec = importlib.util.spec_from_file_location("simulated", path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    assert "import promptpo" not in path.read_text()
    assert "not confined" in path.read_text().split("\n\n")[0]
    spec.loader.exec_module(module)  # our own text, of a simulator that this test wrote
    from gymnasium.utils.env_checker import check_env

    check_env(gymnasium.make("Simulated/Pendulum-v0").unwrapped, skip_render_check=True)
    lanes: Any = gymnasium.make_vec(
        "Simulated/Pendulum-v0", num_envs=5, vectorization_mode="vector_entry_point"
    )
    lanes.reset(seed=3)
    for step in range(1, 201):
        obs, _, _, truncated, info = lanes.step(np.zeros((5, 1), np.float32))
        assert truncated.all() == (step == 200)
    assert obs.shape == (5, 3)
    assert info["_final_obs"].all()


TAKEN = """import numpy

NUMBERS, MAX_EPISODE_STEPS, OBSERVATION_SPACE, spaces = 0.2, 3, 4, 5
MODULE, Any, SimulatedEnv = 6, 7, 8


def replace_lanes(old, new, lanes):
    return old


class Simulator:
    def __init__(self, params, rng):
        self.seen = NUMBERS, MAX_EPISODE_STEPS, OBSERVATION_SPACE, spaces, MODULE, Any, SimulatedEnv

    def reset(self, n):
        return numpy.full((n, 2), replace_lanes(NUMBERS, 0, 0))

    def set(self, obs):
        pass

    def step(self, actions):
        return self.reset(len(actions)) + sum(self.seen), numpy.ones(len(actions)), numpy.zeros(len(actions), bool)
"""


@pytest.mark.parametrize("imported", ["", "from mechanism import Mechanism\n"])
def test_names_of_the_simulator_are_kept(imported: str, tmp_path: Path) -> None:
    """They may collide with those of the exporter."""
    box, action = gymnasium.spaces.Box(-99, 99, (2,)), gymnasium.spaces.Box(-1, 1, (1,))
    env_id = f"Simulated/Taken{len(imported)}-v0"
    simulation = Simulation.of(imported + TAKEN, box, action, 10)
    (tmp_path / "taken.py").write_text(environment_file(simulation, env_id))
    code = (
        f"import taken, gymnasium; env = gymnasium.make({env_id!r}); env.reset(seed=0); print(env.step([0.0])[0]); "
        f"lanes = gymnasium.make_vec({env_id!r}, 3, 'vector_entry_point'); lanes.reset(seed=0); "
        "print(lanes.step([[0.0]] * 3)[0][2])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stdout == "[33.4 33.4]\n" * 2, done.stderr
