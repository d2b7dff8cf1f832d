"""Loading a trained agent from its files, to play it."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import re
import statistics
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

ZOO_SETTINGS = "config.yml"
"""The file in which RL Baselines3 Zoo keeps hyperparameters, in a folder named after the environment."""

_NORMALIZES = re.compile(r"normali[sz]e(?!.*feature)", re.IGNORECASE)
_STEPS = re.compile(r"\d{2,}(?=_steps|$)")

_ZOO_NORMALIZES = re.compile(r"^[- ]*normalize(?: *:| *\n[ ]*-) +(?!false)\S", re.MULTILINE)

FEWEST_EPISODES = 20
"""Minimum number of training episodes whose returns an agent's file must hold for a comparison."""

WORSE_STDERR, WORSE_SHARE = 4.0, 0.5
"""How far an agent must fall below its training for a warning, in standard errors and as a fraction of its return."""

logger = logging.getLogger(__name__)


def load_agent(path: str | os.PathLike[str], settings: TrainingSettings | None = None) -> TrainedAgent:
    """Load an agent that ``promptpo baseline`` or stable-baselines3 saved.

    Statistics of observations (see `find_statistics`) and the run's ``config.json`` are looked for beside the zip
    file. Loading unpickles: **load only agents that you trust**, they can run any code.

    Args:
        path: The zip file.
        settings: Settings of its run; None looks for them near the file.

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
    settings = settings or _settings_near(path)
    own: tuple[Any, ...] = ()
    if settings is not None:
        env = make_env(settings.task)
        own = (env.observation_space, env.action_space)
        env.close()
    try:
        model = model_class.load(path, device=settings.device if settings else "cpu")
        stages = _stages(path, settings)
    except UsageError:
        raise
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
    """Play episodes with a saved agent, deterministically; called by ``promptpo evaluate AGENT.zip``.

    Args:
        path: The zip file; see `load_agent`.
        task: The task to play.
        seeds: One episode each; if empty, the agent is asked for one action, and nothing is stepped.
        watch: Called with every episode and its trajectory, with the environment's own observations; once it returns
            false, no further episode is played. Episodes are then played one after the other.

    Raises:
        UsageError: The file is not a saved agent, or it was trained for other spaces.
        MissingExtraError: stable-baselines3 is not installed.
    """
    agent, evaluator = load_agent(path), Evaluator(task)
    with contextlib.closing(make_flat_env(task)) as env, contextlib.closing(evaluator):
        _check_fit(replace(agent, observation_space=None, action_space=None), path, env, task)
        if not seeds:
            return Evaluation("ok", (), 0)
        evaluation = evaluator.evaluate(agent, seeds, watch)
        _warn_of_missing_statistics(Path(path), agent, evaluation)
        return evaluation


def _check_fit(agent: TrainedAgent, path: str | os.PathLike[str], env: AnyEnv, task: Task) -> None:
    """Ask an agent for an action on a first observation.

    Raises:
        UsageError: It does not take the observation, or its action is not one of the environment's.
    """
    foreign = f"{path} cannot play {task.label}; was it trained on it?"
    observation, _ = env.reset(seed=0)
    try:
        action, _ = agent.predict(observation)
    except (ValueError, AssertionError, RuntimeError, TypeError) as error:
        raise UsageError(f"{foreign} {error}") from error
    trained, wanted = agent.model.action_space, env.action_space
    if type(trained) is not type(wanted) or not wanted.contains(action):
        raise UsageError(f"{foreign} Its actions are of {trained}, not of {wanted}.")


def _settings_near(path: Path) -> TrainingSettings | None:
    """Load the settings of the run that contains a zip file; None if no run does."""
    for directory in (path.parent, *list(path.parent.parents)[:2]):
        if (directory / CONFIG).exists():
            return load_settings(directory)
    return None


def find_statistics(path: Path) -> Path | None:
    """Find the normalisation statistics of observations saved beside an agent; None if there are none.

    They are recognised by any usual name: ``vecnormalize.pkl``, ``vec_normalize.pkl``, those of a checkpoint with its
    number of steps, those in a folder beside it named after the agent or the environment (RL Baselines3 Zoo).

    Raises:
        UsageError: There are several, none with a standard name.
    """
    from promptpo_baselines.building import NORMALIZERS

    number = _STEPS.search(path.stem)
    subfolders = [
        folder for folder in path.parent.iterdir() if folder.is_dir() and (folder / ZOO_SETTINGS).exists()
    ]
    for folder in (path.parent, path.parent / path.stem, *sorted(subfolders)):
        named = [file for file in sorted(folder.glob("*.pkl")) if _NORMALIZES.search(file.name)]
        steps = {file: _STEPS.search(file.stem) for file in named}
        same = [file for file, found in steps.items() if found and number and found[0] == number[0]]
        plain = [file for file, found in steps.items() if not found]
        usual = [file for file in plain if file.name == NORMALIZERS[0]]
        for chosen in (same, usual, plain):
            if len(chosen) == 1:
                return chosen[0]
        if same or plain:
            raise UsageError(
                f"{folder} holds several statistics of observations ({', '.join(file.name for file in named)}); call those "
                f"of {path.name} {NORMALIZERS[0]}."
            )
    return None


def _stages(path: Path, settings: TrainingSettings | None) -> list[Stage]:
    from promptpo_baselines.building import NORMALIZERS, load_normalizer

    stages: list[Stage] = []
    observations, features = find_statistics(path), path.parent / NORMALIZERS[1]
    if observations is not None:
        normalizer = load_normalizer(observations)
        stages += [normalizer.normalize_obs] if normalizer.norm_obs else []
    if settings is not None and settings.language is not None:
        from promptpo_baselines.llm_policy.observations import encoding_stage

        encode = encoding_stage(settings)
        stages += [encode] if encode else []
    if features.exists():
        stages.append(load_normalizer(features).normalize_obs)
    return stages


def _warn_of_missing_statistics(path: Path, agent: TrainedAgent, evaluation: Evaluation) -> None:
    """Warn if an agent without statistics was trained with them, or does far worse than in its training."""
    from promptpo_baselines.building import NORMALIZERS

    if agent.stages or not evaluation.returns:
        return
    fix = f"put its statistics beside it, as {NORMALIZERS[0]}"
    if _is_normalized_in_zoo(path):
        logger.warning("%s was trained on normalised observations; %s.", path, fix)
        return
    trained = [float(episode["r"]) for episode in getattr(agent.model, "ep_info_buffer", None) or ()]
    if len(trained) < FEWEST_EPISODES or len(evaluation.returns) < 2:  # noqa: PLR2004 - no spread
        return
    played = evaluation.returns
    error = math.hypot(
        *(statistics.stdev(returns) / math.sqrt(len(returns)) for returns in (trained, played))
    )
    before, now = statistics.fmean(trained), statistics.fmean(played)
    if before - now > WORSE_STDERR * error and before - now > WORSE_SHARE * abs(before):
        logger.warning(
            "%s returns %.4g here and returned %.4g at the end of its training; if it was trained with VecNormalize, %s.",
            path, now, before, fix,
        )  # fmt: skip


def _is_normalized_in_zoo(path: Path) -> bool:
    """Whether a run's settings in the Zoo's format say that observations were normalised."""
    files = path.parent.glob(f"*/{ZOO_SETTINGS}")
    return any(_ZOO_NORMALIZES.search(file.read_text(errors="replace")) for file in files)
