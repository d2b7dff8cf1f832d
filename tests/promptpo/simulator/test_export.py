"""The simulator's file as an environment of its own."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from promptpo.simulator.export import environment_file
from tests.promptpo.simulator.test_engine import fitted


def test_the_exported_file_is_an_environment(tmp_path: Path) -> None:
    """It passes Gymnasium's own check, alone and vectorised; it needs nothing of ours."""
    path = tmp_path / "simulated.py"
    path.write_text(environment_file(fitted(), "Simulated/Pendulum-v0"))
    spec = importlib.util.spec_from_file_location("simulated", path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    assert "promptpo" not in path.read_text()
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
