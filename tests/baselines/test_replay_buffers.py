"""Replay buffers on disk are as large as what they hold, and come back with room for more."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")


import gymnasium
from gymnasium import spaces
from stable_baselines3 import SAC
from stable_baselines3.common.env_util import make_vec_env

from promptpo_baselines.replay_buffers import load_filled, save_filled


class Parts(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Observations in two parts."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        whole = env.observation_space
        self.observation_space = spaces.Dict({"all": whole, "first": spaces.Box(-1, 1, (1,), np.float32)})

    def observation(self, observation: Any) -> Any:
        """Both."""
        return {"all": observation, "first": observation[:1]}


@pytest.mark.parametrize(
    ("policy", "wrapper", "options"),
    [
        ("MlpPolicy", None, {}),
        ("MlpPolicy", None, {"n_steps": 3}),
        ("MultiInputPolicy", Parts, {}),
        ("MlpPolicy", None, {"buffer_size": 60}),  # full
    ],
)
def test_a_buffer_comes_back_as_it_was(policy: str, wrapper: Any, options: Any, tmp_path: Path) -> None:
    """Transitions, place, size and room; a file of what is there alone; learning goes on alike."""
    pytest.importorskip("torch")
    envs = make_vec_env("Pendulum-v1", 2, seed=0, wrapper_class=wrapper)
    given = {"buffer_size": 20_000, "learning_starts": 10, "batch_size": 8, **options}
    model = SAC(policy, envs, seed=0, device="cpu", policy_kwargs={"net_arch": [8]}, **given)
    model.learn(90)
    before: Any = model.replay_buffer
    save_filled(model, tmp_path / "buffer.pkl")
    assert before is model.replay_buffer
    assert len(before.rewards) == before.buffer_size, "the buffer in use keeps its room"
    assert (tmp_path / "buffer.pkl").stat().st_size < 30_000
    load_filled(model, tmp_path / "buffer.pkl")
    after: Any = model.replay_buffer
    assert (after.pos, after.full, after.buffer_size) == (before.pos, before.full, before.buffer_size)
    for name, value in vars(before).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(after, name), value)
            assert getattr(after, name).dtype == value.dtype
    for name, part in (before.observations if isinstance(before.observations, dict) else {}).items():
        np.testing.assert_array_equal(after.observations[name], part)
    model.learn(60, reset_num_timesteps=False)
    assert after.full or after.pos > before.pos
