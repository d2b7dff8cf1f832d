"""The encoder between the environments and the algorithm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.utils import get_device
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from promptpo.errors import UnsupportedSpaceError
from promptpo_baselines.environments import make_flat_env
from promptpo_baselines.llm_policy.design import Design
from promptpo_baselines.llm_policy.encoders import Encoder, make_encoder
from promptpo_baselines.settings import TrainingSettings


class LanguageObservations(VecEnvWrapper):
    """Encodes every observation once, all environments in one batch.

    Args:
        envs: Environments whose observations are vectors.
        encoder: Converts states to the network's input.
    """

    def __init__(self, envs: VecEnv, encoder: Encoder) -> None:
        assert isinstance(envs.observation_space, spaces.Box)  # noqa: S101  state_size has checked it
        super().__init__(envs, observation_space=encoder.space(envs.observation_space))
        self._encoder = encoder

    def encode(self, states: Any) -> dict[str, Any]:
        """Encode a batch of states as the network's input."""
        return self._encoder.encode(states)

    def reset(self) -> VecEnvObs:
        """Start all environments."""
        return self.encode(self.venv.reset())

    def step_wait(self) -> VecEnvStepReturn:
        """Encode the environments' observations, including the last ones of episodes."""
        states, rewards, dones, infos = self.venv.step_wait()
        for info in infos:
            if "terminal_observation" in info:
                last = self.encode(np.asarray(info["terminal_observation"])[None])
                info["terminal_observation"] = {key: value[0] for key, value in last.items()}
        return self.encode(states), rewards, dones, infos


def with_language(envs: VecEnv, settings: TrainingSettings) -> tuple[VecEnv, str | None]:
    """Wrap environments with the encoder that a run's design needs.

    Returns:
        The environments, and the key of the input that is to be normalised, if any.

    Raises:
        UnsupportedSpaceError: States are not vectors of numbers.
    """
    design = Design(**(settings.language or {}))
    encoder = make_encoder(design, state_size(envs.observation_space), get_device(settings.device))
    if encoder is None:
        return envs, None
    return LanguageObservations(envs, encoder), encoder.key if encoder.normalize else None


def encoding_stage(settings: TrainingSettings) -> Callable[[Any], Any] | None:
    """Return the encoder alone, for playing a saved agent; None if its network reads states as they are."""
    env = make_flat_env(settings.task)
    size = state_size(env.observation_space)
    env.close()
    encoder = make_encoder(Design(**(settings.language or {})), size, get_device(settings.device))
    return None if encoder is None else encoder.encode


def state_size(space: spaces.Space[Any]) -> int:
    """Return the size of a state.

    Raises:
        UnsupportedSpaceError: It is not a vector of numbers.
    """
    if not isinstance(space, spaces.Box) or len(space.shape) != 1:
        raise UnsupportedSpaceError(f"a language-model policy reads vectors of numbers, not {space}.")
    return int(space.shape[0])
