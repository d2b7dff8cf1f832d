"""What a checkpoint needs beside the network for a run in pieces to equal one run: where the episodes stood.

The episodes under way are not stored but played again: an episode is decided by its seed and its actions. Random
numbers, running returns and the last observations are stored. Where an environment does not repeat an episode, new
episodes begin, as they did before there was this file.
"""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecEnvWrapper, VecNormalize

from promptpo_baselines.environments import SeededEpisodes

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

PAUSE = "pause.pkl"
LAST = ("_last_obs", "_last_episode_starts", "_last_original_obs")
"""What an algorithm remembers from one rollout to the next."""


def save_pause(model: BaseAlgorithm, envs: VecEnv, path: Path) -> None:
    """Write where a run stands between two rollouts; nothing where its environments cannot say."""
    players = _players(envs)
    if players is None or getattr(model, "_last_obs", None) is None:
        return
    bottom = _bottom(envs)
    state = {
        "random": random.getstate(),
        "numpy": np.random.get_state(),  # noqa: NPY002 - stable-baselines3 draws from it
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "actions": model.action_space.np_random.bit_generator.state,
        "last": {name: getattr(model, name, None) for name in LAST},
        "returns": [np.array(wrapper.returns) for wrapper in _normalizers(envs)],
        "episodes": [player.standing for player in players],
        "observations": copy.deepcopy(bottom.buf_obs),
    }
    with path.open("wb") as file:
        pickle.dump(state, file)


def restore_pause(model: BaseAlgorithm, envs: VecEnv, path: Path) -> bool:
    """Put a loaded model and new environments where a run stood.

    Returns:
        Whether that could be done; otherwise both are as they were, but for episodes that were begun.
    """
    players = _players(envs)
    if players is None or not path.exists():
        return False
    with path.open("rb") as file:
        state = pickle.load(file)  # noqa: S301 - the run's own file, as its statistics are
    bottom = _bottom(envs)
    if len(state["episodes"]) != len(players):
        return False
    for n, (player, standing) in enumerate(zip(players, state["episodes"], strict=True)):
        bottom._save_obs(n, _replayed(bottom.envs[n], player, standing))  # noqa: SLF001 - its own buffer
    if not all(np.array_equal(bottom.buf_obs[key], state["observations"][key]) for key in bottom.buf_obs):
        return False
    for wrapper, returns in zip(_normalizers(envs), state["returns"], strict=True):
        wrapper.returns = returns
    for name, value in state["last"].items():
        setattr(model, name, value)
    random.setstate(state["random"])
    np.random.set_state(state["numpy"])  # noqa: NPY002 - as above
    torch.set_rng_state(state["torch"])
    if state["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state["cuda"])
    model.action_space.np_random.bit_generator.state = state["actions"]
    return True


def _replayed(env: Any, player: SeededEpisodes, standing: tuple[int, list[Any]]) -> Any:
    """The last observation of an episode that is played up to where it stood."""
    index, actions = standing
    player.begin_at(index)
    observation, _ = env.reset()
    for action in actions:
        observation, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            break
    return observation


def _players(envs: VecEnv) -> list[SeededEpisodes] | None:
    """The wrappers that choose the seeds, an environment each; None where there are none."""
    bottom = _bottom(envs)
    if not isinstance(bottom, DummyVecEnv) or not all(_is_stateless(wrapper) for wrapper in _wrappers(envs)):
        return None
    found = []
    for env in bottom.envs:
        inner: Any = env
        while inner is not None and not isinstance(inner, SeededEpisodes):
            inner = getattr(inner, "env", None)
        if inner is None:
            return None
        found.append(inner)
    return found


def _is_stateless(wrapper: VecEnvWrapper) -> bool:
    """Whether a wrapper keeps nothing of an episode that is not stored: statistics are, an encoder has nothing."""
    return type(wrapper) is VecNormalize or hasattr(wrapper, "encode")


def _bottom(envs: VecEnv) -> Any:
    while isinstance(envs, VecEnvWrapper):
        envs = envs.venv
    return envs


def _wrappers(envs: VecEnv) -> Iterator[VecEnvWrapper]:
    while isinstance(envs, VecEnvWrapper):
        yield envs
        envs = envs.venv


def _normalizers(envs: VecEnv) -> list[VecNormalize]:
    return [wrapper for wrapper in _wrappers(envs) if isinstance(wrapper, VecNormalize)]
