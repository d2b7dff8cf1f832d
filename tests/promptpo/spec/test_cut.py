"""Unbounded episodes: their natural length and the step at which a run cuts them."""

from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from promptpo.core.config import Budget, Config
from promptpo.envs.task import Task
from promptpo.run.episodes import horizon_within, with_episodes
from promptpo.spec import with_cut
from promptpo.spec.describe import describe_env
from promptpo.spec.reading import read


class Game(gymnasium.Env[Any, Any]):
    """Ends after `left` steps, or never if that is None."""

    observation_space = spaces.Box(0, 1, (1,), np.float32)
    action_space = spaces.Discrete(2)
    t = 0

    def __init__(self, left: int | None) -> None:
        self.left = left

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.t = 0
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        self.t += 1
        over = self.left is not None and self.t >= self.left
        return np.zeros(1, np.float32), 0.0, over, False, {}


@pytest.mark.parametrize(("left", "length", "cut"), [(900, 900, 900), (None, 50, 500)])
def test_horizon_is_the_natural_length_if_episodes_end(left: int | None, length: float, cut: int) -> None:
    """Episodes that never end are cut so that the budget still pays for many."""
    spec, _ = describe_env(Game(left), Task("Game-v0"))
    assert spec.horizon == (left if left == length else None)
    assert spec.sample_length == length
    config = with_episodes(Config(Task("Game-v0"), model="search", budget=Budget(steps=60_000)), None, length)
    steps = horizon_within(config, spec.horizon, spec.sample_length)
    assert steps == cut
    assert 60_000 // steps >= 25


def test_cut_replaces_the_horizon_in_the_spec_text() -> None:
    """Cutting again replaces the number; a text without a horizon gets a note at its end."""
    spec, _ = describe_env(Game(None), Task("Game-v0"))
    cut = with_cut(with_cut(spec, 700), 800)
    assert '"max_steps": 800,  # this run cuts longer episodes there' in cut.text
    assert cut.text.count("this run cuts") == 1
    assert (read(cut.text).episode or {})["max_steps"] == 800
    plain = replace(spec, text='"""A task."""\n')
    assert with_cut(with_cut(plain, 700), 1800).text == (
        '"""A task."""\n\n\n# This run cuts episodes after 1,800 steps.\n'
    )
    bounded = replace(spec, horizon=10)
    assert with_cut(bounded, 700) is bounded
