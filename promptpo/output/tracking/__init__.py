"""Runs in other people's dashboards: TensorBoard, Weights & Biases, MLflow, Gymnasium's monitor files.

All of it is a thin reading of the journal: a tracker is fed by a run that goes on (it is an `Observer`) or,
by `send`, from the journal of one that has ended; both give the same numbers. Names follow
stable-baselines3 (``rollout/ep_rew_mean``, ``eval/mean_reward``); the x axis is environment steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from promptpo.errors import UsageError
from promptpo.output.run_result import load_run
from promptpo.output.tracking.base import Several, Tracker
from promptpo.output.tracking.mlflow import MLflow
from promptpo.output.tracking.monitor import Monitor
from promptpo.output.tracking.tensorboard import TensorBoard
from promptpo.output.tracking.weights_and_biases import WandB
from promptpo.run.config import CONFIG, load_config
from promptpo.run.journal import JOURNAL, read_events
from promptpo.run.state import RunState

__all__ = ["MLflow", "Monitor", "Several", "TensorBoard", "Tracker", "WandB", "send", "tracker"]

TRACKERS: Mapping[str, Callable[[str], Tracker]] = {
    "tensorboard": TensorBoard,
    "wandb": WandB,
    "mlflow": MLflow,
    "monitor": Monitor,
}
DEFAULTS: Mapping[str, str] = {
    "tensorboard": "tensorboard",
    "wandb": "promptpo",
    "mlflow": "file:mlruns",
    "monitor": "monitor.csv",
}


def tracker(name: str) -> Tracker:
    """The tracker that ``--track NAME[:WHERE]`` means.

    Raises:
        UsageError: There is none of that name.
        MissingExtraError: Its client is not installed.
    """
    kind, _, where = name.partition(":")
    if kind not in TRACKERS:
        raise UsageError(f"--track takes {', '.join(f'{k}[:WHERE]' for k in TRACKERS)}, not {name!r}.")
    return TRACKERS[kind](where or DEFAULTS[kind])


def send(run: Path, trackers: Sequence[Tracker]) -> None:
    """Feed trackers from the journal of a run.

    Raises:
        RunError: It is not a readable run, or it has no result yet.
    """
    result = load_run(run)
    config = load_config(run / CONFIG)
    events = read_events(run / JOURNAL)
    for one in trackers:
        one.begin(run, RunState(config))
        for event in events:
            one.event(event)
        one.finished(result)
