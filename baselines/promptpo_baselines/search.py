"""``--search N``: tuning of an RL algorithm's hyperparameters on training seeds with Optuna, within the run's steps."""

from __future__ import annotations

import statistics
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.errors import UsageError
from promptpo_baselines.building import build_envs, build_model
from promptpo_baselines.hyperparameters import ROWS, Hyperparameters, fit_to_budget, read_rows, whole_steps
from promptpo_baselines.progress import Display
from promptpo_baselines.settings import TrainingSettings, save_settings

if TYPE_CHECKING:
    import optuna

TRIALS = "search.log"
TRIALS_STEP_SHARE = 0.5
"""Maximum fraction of all steps that trials take together."""
FEWEST = 200
"""Minimum steps of a trial."""


def search(
    settings: TrainingSettings, row: Hyperparameters, directory: Path, display: Display
) -> tuple[Hyperparameters, dict[str, Any]]:
    """Try hyperparameters in short trainings, the given ones first; finished trials on disk are not repeated.

    The score of a trial is the mean return of the second half of its training episodes, so it needs no steps beyond
    these.

    Args:
        settings: Settings of the run, with the number of trials.
        row: Hyperparameters of the first trial; the others keep what is not searched.
        directory: The run directory.
        display: Shows each trial.

    Returns:
        The best hyperparameters, and a summary for the result.

    Raises:
        UsageError: There are too few steps for so many trials.
    """
    import optuna
    from optuna.storages.journal import JournalFileBackend

    each = _steps_each(settings)
    save_settings(settings, directory)  # so that --resume continues a search that is interrupted
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=settings.seed),
        storage=optuna.storages.JournalStorage(JournalFileBackend(str(directory / TRIALS))),
        study_name=settings.algorithm,
        load_if_exists=True,
    )
    space = read_rows(ROWS / "search.yml")[settings.algorithm]

    def evaluate_trial(trial: optuna.Trial) -> float:
        first = not _completed_trials(study)
        drawn = {} if first else {name: _drawn(trial, name, given) for name, given in space.items()}
        mean, steps = _trial(settings, replace(row, values={**row.values, **drawn}), trial.number, each)
        trial.set_user_attr("steps", steps)
        display.line(
            f"  trial {trial.number + 1} of {settings.search}, {steps:,} steps: mean return {mean:.2f}"
        )
        return mean

    study.optimize(evaluate_trial, n_trials=settings.search - len(_completed_trials(study)))
    tried = _completed_trials(study)
    steps = sum(trial.user_attrs["steps"] for trial in tried)
    best = study.best_trial if any(trial.value is not None for trial in tried) else tried[0]
    source = f"found by --search {settings.search} in {steps:,} steps, from {row.source}"
    if best.number == tried[0].number:
        source = f"{row.source}; {steps:,} steps of --search found nothing better"
    found = replace(row, source=source, values={**row.values, **best.params})
    return found, {
        "trials": len(tried),
        "steps": steps,
        "best": dict(best.params),
        "score": best.value,
    }


def _completed_trials(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    """Return the trials that were trained to their end, oldest first; Ctrl-C leaves others, which do not count."""
    return [trial for trial in study.trials if "steps" in trial.user_attrs]


def _steps_each(settings: TrainingSettings) -> int:
    """Return the steps of a trial.

    Raises:
        UsageError: There are too few.
    """
    each = int(settings.steps * TRIALS_STEP_SHARE) // settings.search
    if each < FEWEST:
        raise UsageError(
            f"--search {settings.search} takes half of --max-steps, {FEWEST} a trial at least: give --max-steps "
            f"{int(settings.search * FEWEST / TRIALS_STEP_SHARE):,} or more."
        )
    return each


def _trial(settings: TrainingSettings, row: Hyperparameters, number: int, each: int) -> tuple[float, int]:
    """Return the mean return of the second half of a short training's episodes, NaN if none ended; and its steps."""
    short = fit_to_budget(row, settings.algorithm, each)
    envs = build_envs(settings, short, steps_taken=number * each, saved=None)
    try:
        model = build_model(settings, short, envs).learn(whole_steps(short, settings.algorithm, each))
        played = [returns[len(returns) // 2 :] for returns in envs.env_method("get_episode_rewards")]
    finally:
        envs.close()
    returns = [score for of_env in played for score in of_env]
    return statistics.fmean(returns) if returns else float("nan"), int(model.num_timesteps)


def _drawn(trial: optuna.Trial, name: str, given: Any) -> Any:
    if isinstance(given, dict):
        return trial.suggest_float(name, given["low"], given["high"], log=True)
    return trial.suggest_categorical(name, given)
