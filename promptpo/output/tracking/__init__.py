"""Runs in external dashboards: TensorBoard, Weights & Biases, MLflow, Gymnasium's monitor files.

Trackers are thin readers of the journal: a tracker is fed by a run in progress (it is an `Observer`) or, by `send`,
from the journal of one that has ended; both give the same numbers. Names follow stable-baselines3
(``rollout/ep_rew_mean``, ``eval/mean_reward``); the x axis is environment steps.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from promptpo.core.journal import JOURNAL, read_events
from promptpo.envs.task import label_of
from promptpo.errors import NoSuchRunError, UsageError
from promptpo.output.baseline_run import BaselineRun, is_baseline, read_baseline
from promptpo.output.run_result import load_run
from promptpo.output.tracking.clients import MLflow, Monitor, TensorBoard, WandB
from promptpo.output.tracking.events import Several, Tracker, parameters_of, test_metrics
from promptpo.rollouts.evaluation import EpisodeRecord
from promptpo.run.config_file import CONFIG, load_config
from promptpo.run.origin import check_size
from promptpo.run.state import RunState

__all__ = ["MLflow", "Monitor", "Several", "TensorBoard", "Tracker", "WandB", "send", "tracker"]

TRACKERS: Mapping[str, tuple[Callable[[str], Tracker], str]] = {
    "tensorboard": (TensorBoard, "tensorboard"),
    "wandb": (WandB, "promptpo"),
    "mlflow": (MLflow, "file:mlruns"),
    "monitor": (Monitor, "monitor.csv"),
}
"""Constructor and default destination of each tracker."""


def tracker(name: str) -> Tracker:
    """Return the tracker for ``--track NAME[:WHERE]``.

    Raises:
        UsageError: There is none of that name.
        MissingExtraError: Its client is not installed.
    """
    kind, _, where = name.partition(":")
    if kind not in TRACKERS:
        raise UsageError(f"trackers are called {', '.join(f'{k}[:WHERE]' for k in TRACKERS)}, not {name!r}.")
    make, usual = TRACKERS[kind]
    return make(where or usual)


def send(run: Path, trackers: Sequence[Tracker]) -> None:
    """Feed trackers from the journal of a run, or from the files of a baseline.

    Raises:
        RunError: It is not a readable run, or it has no result yet.
    """
    if is_baseline(run):
        for tracker in trackers:
            _send_baseline(read_baseline(run), tracker)
        return
    result, config = load_run(run), load_config(run / CONFIG)
    check_size(run)
    events = read_events(run / JOURNAL)
    for tracker in trackers:
        state = RunState(config)
        tracker.begin(run, parameters_of(config), state)
        for event in events:
            state.add(event)
            tracker.on_event(event)
        tracker.on_finish(result)


def _send_baseline(run: BaselineRun, tracker: Tracker) -> None:
    """Send the curve of a baseline, its episodes if recorded, and its test."""
    if not run.finished:
        raise NoSuchRunError(
            f"{run.directory} has no result yet; repeat the command that started it to continue."
        )
    result = run.record
    parameters = {
        "env_id": label_of(result.env_id),
        "env_kwargs": json.dumps(dict(result.env_kwargs)),
        "model": run.content.get("method"),
        "seed": result.seed,
        "max_steps": run.settings.get("steps"),
    }
    tracker.begin(run.directory, parameters)
    for point in run.points:
        values = {"eval/mean_reward": point.mean_return, "rollout/ep_rew_mean": point.train_mean_return}
        known = {name: value for name, value in values.items() if value is not None}
        tracker.log(known, round(point.steps), time.time())
    tests = [EpisodeRecord(seed, return_, 0) for seed, return_ in run.test_returns.items()]
    for purpose, episodes in (("train", run.episodes), ("test", tests)):
        for episode in episodes:
            tracker.episode(purpose, episode, None)
    tracker.log(test_metrics(result.test), result.steps.get("train", 0), time.time())
    tracker.close(None)
