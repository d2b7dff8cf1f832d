"""Observation statistics beside an agent are found under all common names, and reported if missing."""

from __future__ import annotations

import logging
from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from promptpo.errors import UsageError
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo_baselines.agents import TrainedAgent
from promptpo_baselines.play import _warn_of_missing_statistics, find_statistics


@pytest.mark.parametrize(
    ("agent", "files", "chosen"),
    [
        ("best_model.zip", ["vecnormalize.pkl"], "vecnormalize.pkl"),
        ("agent.zip", ["vec_normalize.pkl"], "vec_normalize.pkl"),
        ("agent.zip", ["VecNormalize.pkl", "replay_buffer.pkl"], "VecNormalize.pkl"),
        ("ppo.zip", ["vec_normalise_stats.pkl"], "vec_normalise_stats.pkl"),
        ("ppo.zip", ["vecnormalize.pkl", "vecnormalize_features.pkl"], "vecnormalize.pkl"),
        ("rl_model_2000_steps.zip", ["rl_model_vecnormalize_1000_steps.pkl", "rl_model_vecnormalize_2000_steps.pkl"],
         "rl_model_vecnormalize_2000_steps.pkl"),
        ("CartPole-v1.zip", ["CartPole-v1/config.yml", "CartPole-v1/vecnormalize.pkl"], "CartPole-v1/vecnormalize.pkl"),
        ("best_model.zip", ["Ant-v5/config.yml", "Ant-v5/vecnormalize.pkl"], "Ant-v5/vecnormalize.pkl"),
        ("agent.zip", ["agent/vec_normalize.pkl"], "agent/vec_normalize.pkl"),
        ("agent.zip", ["other/vecnormalize.pkl", "replay_buffer.pkl"], None),
        ("agent_3000.zip", ["vecnormalize_1000.pkl"], None),
    ],
)  # fmt: skip
def test_statistics_are_found(agent: str, files: list[str], chosen: str | None, tmp_path: Path) -> None:
    """Names are those of stable-baselines3, its callbacks, the Hub and the Zoo; files of another step do not count."""
    for name in (agent, *files):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    expected = None if chosen is None else tmp_path / chosen
    assert find_statistics(tmp_path / agent) == expected


def test_ambiguous_statistics_are_refused(tmp_path: Path) -> None:
    """The sentence says which name decides."""
    for name in ("agent.zip", "a_vecnormalize.pkl", "b_vecnormalize.pkl"):
        (tmp_path / name).touch()
    with pytest.raises(UsageError, match=r"call those of agent\.zip vecnormalize\.pkl"):
        find_statistics(tmp_path / "agent.zip")


def evaluation(mean: float) -> Evaluation:
    """Return a few episodes around a mean."""
    episodes = tuple(EpisodeRecord(seed, mean + seed % 3, 10) for seed in range(6))
    return Evaluation("ok", episodes, 60)


def trained_agent(*stages: Any, returns: float = 100.0) -> TrainedAgent:
    """Return an agent whose file contains the returns of its training."""
    episodes = deque({"r": returns + n % 5, "l": 10} for n in range(100))
    return TrainedAgent(SimpleNamespace(ep_info_buffer=episodes), stages)


@pytest.mark.parametrize(
    ("agent", "mean", "warned"),
    [
        (trained_agent(), 10.0, True),
        (trained_agent(), 99.0, False),
        (trained_agent(), 300.0, False),
        (trained_agent(lambda one: one), 10.0, False),
        (trained_agent(returns=-100.0), -1000.0, True),
        (TrainedAgent(SimpleNamespace(ep_info_buffer=None)), 10.0, False),
    ],
)
def test_agent_far_below_its_training_returns_causes_a_warning(
    agent: TrainedAgent, mean: float, warned: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """If it has no statistics; its file contains the returns of its last hundred episodes."""
    with caplog.at_level(logging.WARNING):
        _warn_of_missing_statistics(tmp_path / "agent.zip", agent, evaluation(mean))
    assert ("VecNormalize" in caplog.text) == warned


@pytest.mark.parametrize(
    ("text", "warned"),
    [("normalize: true\n", True), ("normalize: \"{'norm_obs': True}\"\n", True), ("- - - n_envs\n    - 8\n  - - normalize\n    - true\n", True), ("- - n_envs\n  - 8\n", False),
     ("normalize: false\n", False)],
)  # fmt: skip
def test_zoo_config_with_normalisation_causes_a_warning(
    text: str, warned: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever the returns are."""
    (tmp_path / "Ant-v5").mkdir()
    (tmp_path / "Ant-v5" / "config.yml").write_text(text)
    with caplog.at_level(logging.WARNING):
        _warn_of_missing_statistics(tmp_path / "Ant-v5.zip", trained_agent(), evaluation(100.0))
    assert ("normalised" in caplog.text) == warned
