"""Construction of a training run: environments, the wrappers between them and the network, the algorithm."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.save_util import load_from_pkl
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper, VecNormalize

from promptpo.errors import UnsupportedSpaceError, UsageError
from promptpo_baselines.agents import TrainedAgent
from promptpo_baselines.algorithms import CONTINUOUS_ONLY, DISCRETE_ONLY, algorithm_class, display_name
from promptpo_baselines.environments import AnySpace, policy_name, training_envs
from promptpo_baselines.hyperparameters import ON_POLICY, Hyperparameters, resolve
from promptpo_baselines.rollout_buffers import SlicedRolloutBuffer
from promptpo_baselines.settings import TrainingSettings

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

NORMALIZERS = ("vecnormalize.pkl", "vecnormalize_features.pkl")
"""Files of normalisation statistics, innermost first: of observations and rewards; of a language model's features."""


def hyperparameters_of(settings: TrainingSettings) -> Hyperparameters:
    """Return the hyperparameters of a run, with the number of environments set."""
    refining = settings.prior is not None and not settings.prior.get("alone")
    found = resolve(settings.algorithm, settings.task, settings.hyperparameters, refining=refining)
    return replace(found, n_envs=settings.n_envs or found.n_envs or 1)


def build_envs(
    settings: TrainingSettings, row: Hyperparameters, *, steps_taken: int, saved: Path | None
) -> VecEnv:
    """Build the training environments with their wrappers.

    Args:
        settings: Settings of the run.
        row: Its hyperparameters.
        steps_taken: Steps taken before this process.
        saved: Directory of a checkpoint whose statistics are to be continued.
    """
    envs: VecEnv = training_envs(settings.task, row.n_envs or 1, settings.seed, steps_taken)
    if settings.simulator is not None:
        from promptpo_baselines.simulated import Switch

        envs = Switch(envs)
    if row.normalize is not None:
        options = dict(row.normalize)
        if settings.language is not None and settings.language["state"] == "raw":
            options["norm_obs"] = False
        envs = _normalize(envs, saved and saved / NORMALIZERS[0], options)
    if settings.language is not None:
        from promptpo_baselines.llm_policy.observations import with_language

        envs, features = with_language(envs, settings)
        if features is not None:
            options = {"norm_reward": False, "norm_obs_keys": [features]}
            envs = _normalize(envs, saved and saved / NORMALIZERS[1], options)
    return envs


def build_model(settings: TrainingSettings, row: Hyperparameters, envs: VecEnv) -> BaseAlgorithm:
    """Create an agent.

    Raises:
        UnsupportedSpaceError: The algorithm has no policy for these actions.
        UsageError: The hyperparameters do not fit together.
    """
    check_actions(settings, envs.action_space)
    arguments = row.arguments()
    policy: Any = policy_name(envs.observation_space)
    if settings.language is not None:
        from promptpo_baselines.llm_policy.networks import policy_and_arguments

        policy, arguments["policy_kwargs"] = policy_and_arguments(settings, envs, arguments["policy_kwargs"])
    if settings.algorithm == "trpo" and isinstance(envs.observation_space, spaces.Dict):
        arguments["rollout_buffer_class"] = SlicedRolloutBuffer
    model = new_model(settings, policy, envs, arguments)
    if settings.language is not None:
        from promptpo_baselines.llm_policy.memory import check_memory

        check_memory(settings, row, model)
    return model


def new_model(
    settings: TrainingSettings, policy: Any, envs: VecEnv, arguments: dict[str, Any]
) -> BaseAlgorithm:
    """Create an agent with a given policy.

    Raises:
        UsageError: The arguments do not fit together.
    """
    try:
        return algorithm_class(settings.algorithm)(
            policy, envs, seed=settings.seed, device=settings.device, **arguments
        )
    except (TypeError, ValueError, AssertionError) as error:
        raise UsageError(
            f"{settings.algorithm} does not take the hyperparameters of {settings.hyperparameters}: {error}"
        ) from error


def check_actions(settings: TrainingSettings, space: AnySpace) -> None:
    """Check that an algorithm has a policy for these actions.

    Raises:
        UnsupportedSpaceError: It has none.
    """
    own: tuple[str, ...] = CONTINUOUS_ONLY if isinstance(space, spaces.Box) else ()
    if isinstance(space, spaces.Discrete):
        own = DISCRETE_ONLY
    if settings.algorithm not in (*ON_POLICY, *own):
        raise UnsupportedSpaceError(
            f"{display_name(settings.algorithm)} has no policy for the actions of {settings.task.name}, {space}: use one of "
            f"{', '.join([*ON_POLICY, *own])}."
        )
    if settings.algorithm in CONTINUOUS_ONLY and isinstance(space, spaces.Box):
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(np.float32(space.high) - np.float32(space.low)).all()
        if not finite:
            raise UnsupportedSpaceError(
                f"{display_name(settings.algorithm)} needs finite bounds of actions, and {settings.task.name} has {space}: "
                f"declare bounds in its action_space, or use one of {', '.join(ON_POLICY)}."
            )


def load_model(
    settings: TrainingSettings, row: Hyperparameters, path: Path, envs: VecEnv, *, steps_taken: int
) -> BaseAlgorithm:
    """Load an agent from a checkpoint, ready for further training, with rollouts of the row's length.

    Its random numbers continue from a seed of the run and of the steps taken, not from the run's own seed.
    """
    name = "n_steps" if settings.algorithm in ON_POLICY else "buffer_size"
    model = algorithm_class(settings.algorithm).load(
        path, env=envs, device=settings.device, **{name: row.values[name]}
    )
    model.set_random_seed(settings.seed + steps_taken)
    return model


def refill(model: Any, path: Path) -> None:
    """Copy the transitions of a saved replay buffer into the model's, which may be larger."""
    old, new = load_from_pkl(path), model.replay_buffer
    filled = min(old.size(), new.buffer_size)
    for name, value in vars(old).items():
        if isinstance(value, np.ndarray) and len(value) == old.buffer_size:
            getattr(new, name)[:filled] = value[:filled]
    new.pos, new.full = filled % new.buffer_size, filled == new.buffer_size


def agent_of(model: BaseAlgorithm, envs: VecEnv) -> TrainedAgent:
    """Return the agent as it is now; it follows further training."""
    stages = [
        wrapper.normalize_obs if isinstance(wrapper, VecNormalize) else wrapper.encode
        for wrapper in _stack(envs)
    ]
    return TrainedAgent(model, stages)


def normalizers(envs: VecEnv) -> dict[VecNormalize, str]:
    """Return all `VecNormalize` wrappers, with the file of each."""
    return {
        wrapper: NORMALIZERS[bool(wrapper.norm_obs_keys)]
        for wrapper in _stack(envs)
        if isinstance(wrapper, VecNormalize)
    }


def load_normalizer(path: Path) -> VecNormalize:
    """Load saved statistics without environments, for `normalize_obs` only."""
    with path.open("rb") as file:
        loaded: VecNormalize = pickle.load(file)  # noqa: S301  the run's own file, as SB3 writes it
    return loaded


def _normalize(envs: VecEnv, saved: Path | None, options: dict[str, Any]) -> VecNormalize:
    if saved is not None:
        return VecNormalize.load(str(saved), envs)
    if not isinstance(envs.observation_space, spaces.Box | spaces.Dict):
        options["norm_obs"] = False  # numbered states have no scale
    return VecNormalize(envs, **options)


def _stack(envs: VecEnv) -> list[Any]:
    """Return the wrappers that may change observations, innermost first."""
    found: list[Any] = []
    while isinstance(envs, VecEnvWrapper):
        if isinstance(envs, VecNormalize) or hasattr(envs, "encode"):
            found.append(envs)
        envs = envs.venv
    return found[::-1]
