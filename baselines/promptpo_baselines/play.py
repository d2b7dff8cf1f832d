"""Loading a trained agent from its files, to play it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.rollouts.evaluation import Evaluation
from promptpo_baselines.agents import Stage, TrainedAgent
from promptpo_baselines.algorithms import algorithm_class, algorithm_of
from promptpo_baselines.environments import AnyEnv, make_flat_env
from promptpo_baselines.evaluation import Evaluator
from promptpo_baselines.extras import BASELINES, require
from promptpo_baselines.settings import CONFIG, TrainingSettings, load_settings
from promptpo_sandbox import Episode


def load_agent(path: str | os.PathLike[str]) -> TrainedAgent:
    """Load an agent that ``promptpo baseline`` or stable-baselines3 saved.

    Beside the zip file it looks for ``vecnormalize.pkl`` (statistics of observations) and for the run's
    ``config.json``. Loading unpickles: **load only agents that you trust**, they can run any code.

    Args:
        path: The zip file.

    Returns:
        An object with ``predict(observation, state=None, episode_start=None, deterministic=True)``, which
        takes observations of the bare environment.

    Raises:
        UsageError: The file is not a saved agent.
        MissingExtraError: stable-baselines3 is not installed.
    """
    require(BASELINES, what="playing a trained agent")
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no agent {path}.")
    model_class = algorithm_class(algorithm_of(path))
    settings = _settings_near(path)
    own: tuple[Any, ...] = ()
    if settings is not None:
        env = make_env(settings.task)
        own = (env.observation_space, env.action_space)
        env.close()
    try:
        model = model_class.load(path, device=settings.device if settings else "cpu")
        stages = _stages(path.parent, settings)
    except Exception as error:
        raise UsageError(f"{path} cannot be loaded: {error or type(error).__name__}") from error
    return TrainedAgent(model, stages, *own)


def evaluate_agent(
    path: str | os.PathLike[str],
    task: Task,
    seeds: Sequence[int],
    *,
    watch: Callable[[Episode], bool] | None = None,
) -> Evaluation:
    """Play episodes with a saved agent, deterministically; ``promptpo evaluate AGENT.zip`` comes here.

    Args:
        path: The zip file; see `load_agent`.
        task: What to play.
        seeds: One episode each; without any the agent is asked for one action, and nothing is stepped.
        watch: Given every episode with its trajectory, observations as the environment gives them; no further
            one is played once it returns false. Episodes are then played one after the other.

    Raises:
        UsageError: The file is not a saved agent, or it was trained for other spaces.
        MissingExtraError: stable-baselines3 is not installed.
    """
    agent, evaluator = load_agent(path), Evaluator(task)
    with contextlib.closing(make_flat_env(task)) as env, contextlib.closing(evaluator):
        _check_fit(replace(agent, observation_space=None, action_space=None), path, env, task)
        return evaluator.evaluate(agent, seeds, watch) if seeds else Evaluation("ok", (), 0)


def _check_fit(agent: TrainedAgent, path: str | os.PathLike[str], env: AnyEnv, task: Task) -> None:
    """Ask an agent for an action on a first observation.

    Raises:
        UsageError: It does not take the observation, or the action is none of the environment's.
    """
    foreign = f"{path} cannot play {task.env_id}; was it trained on it?"
    observation, _ = env.reset(seed=0)
    try:
        action, _ = agent.predict(observation)
    except (ValueError, AssertionError, RuntimeError, TypeError) as error:
        raise UsageError(f"{foreign} {error}") from error
    trained, wanted = agent.model.action_space, env.action_space
    if type(trained) is not type(wanted) or not wanted.contains(action):
        raise UsageError(f"{foreign} Its actions are of {trained}, not of {wanted}.")


def _settings_near(path: Path) -> TrainingSettings | None:
    """TrainingSettings of the run that a zip file lies in; None where it lies in none."""
    for directory in (path.parent, *list(path.parent.parents)[:2]):
        if (directory / CONFIG).exists():
            return load_settings(directory)
    return None


def _stages(directory: Path, settings: TrainingSettings | None) -> list[Stage]:
    from promptpo_baselines.building import NORMALIZERS, load_normalizer

    stages: list[Stage] = []
    observations, features = (directory / name for name in NORMALIZERS)
    if observations.exists():
        stages.append(load_normalizer(observations).normalize_obs)
    if settings is not None and settings.language is not None:
        from promptpo_baselines.llm_policy.observations import encoding_stage

        encode = encoding_stage(settings)
        stages += [encode] if encode else []
    if features.exists():
        stages.append(load_normalizer(features).normalize_obs)
    return stages
