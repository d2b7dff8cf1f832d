"""Dashboards, each by its own client, imported on demand; and a file with a line for each episode."""

from __future__ import annotations

import csv
import json
import os
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from promptpo.core.journal import Event
from promptpo.errors import MissingExtraError, UsageError
from promptpo.files import Json
from promptpo.output.tracking.events import Tracker
from promptpo.rollouts.evaluation import EpisodeRecord
from promptpo.run.origin import is_made_here


def _client(name: str, module: str, package: str) -> Any:
    """Import a dashboard's client.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"{name} is not installed: pip install {package}") from error


class TensorBoard(Tracker):
    """Writes TensorBoard event files, with tensorboard's own writer.

    Args:
        folder: Log directory; the run gets a folder of its own in it.
    """

    def __init__(self, folder: str) -> None:
        self._new = _client("TensorBoard", "tensorboard.summary", '"promptpo[tracking]"').Writer
        self._folder = Path(folder)

    def open(self, directory: Path, parameters: Json) -> None:
        """See `Tracker.open`."""
        self._writer: Any = self._new(str(self._folder / directory.resolve().name))

    def log(self, metrics: Mapping[str, float], step: int, at: float) -> None:
        """See `Tracker.log`."""
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step, wall_time=at)

    def close(self, policy: Path | None) -> None:
        """See `Tracker.close`."""
        self._writer.close()


class WandB(Tracker):
    """Sends to Weights & Biases; WANDB_MODE=offline writes to disk only.

    Args:
        project: Name of the project.
    """

    def __init__(self, project: str) -> None:
        self._wandb = _client("Weights & Biases", "wandb", "wandb")
        self._project = project

    def open(self, directory: Path, parameters: Json) -> None:
        """See `Tracker.open`."""
        self._run: Any = self._wandb.init(
            project=self._project,
            name=directory.resolve().name,
            dir=str(directory)
            if is_made_here(directory)
            else None,  # nothing is written into a stranger's run
            config=dict(parameters),
        )

    def log(self, metrics: Mapping[str, float], step: int, at: float) -> None:
        """See `Tracker.log`."""
        self._run.log({**metrics, "env_steps": step})  # its own step must grow with each call; ours need not

    def close(self, policy: Path | None) -> None:
        """See `Tracker.close`."""
        if policy is not None:
            self._run.save(str(policy), base_path=str(policy.parent))
        self._run.finish()


class MLflow(Tracker):
    """Sends to MLflow.

    Args:
        uri: Tracking URI, for example ``file:mlruns`` or ``http://localhost:5000``.
    """

    def __init__(self, uri: str) -> None:
        self._new, self._uri = _client("MLflow", "mlflow", "mlflow-skinny").MlflowClient, uri
        if uri.startswith("file:"):
            # MLflow prefers a database; a user who writes file: has decided.
            os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")

    def open(self, directory: Path, parameters: Json) -> None:
        """See `Tracker.open`."""
        self._client: Any = self._new(tracking_uri=self._uri)
        experiment = self._client.get_experiment_by_name("promptpo")
        experiment_id = experiment.experiment_id if experiment else self._client.create_experiment("promptpo")
        run = self._client.create_run(experiment_id, run_name=directory.resolve().name)
        self._run_id: str = run.info.run_id
        for name, value in parameters.items():
            self._client.log_param(self._run_id, name, str(value)[:500])

    def log(self, metrics: Mapping[str, float], step: int, at: float) -> None:
        """See `Tracker.log`."""
        for name, value in metrics.items():
            self._client.log_metric(self._run_id, name, value, timestamp=round(1000 * at), step=step)

    def close(self, policy: Path | None) -> None:
        """See `Tracker.close`."""
        if policy is not None:
            self._client.log_artifact(self._run_id, str(policy))
        self._client.set_terminated(self._run_id)


class Monitor(Tracker):
    """Writes every episode as a line of a monitor file, in the format that stable-baselines3's plotting reads.

    The columns ``r,l,t`` are return, length and seconds since the run began; ``purpose`` says what the
    episode was for, ``seed`` how it was reset.

    Args:
        path: File to write; by custom it ends in ``monitor.csv``.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._began: float | None = None

    def open(self, directory: Path, parameters: Json) -> None:
        """See `Tracker.open`."""
        if self._path.is_symlink():  # planted by whoever made the folder
            raise UsageError(f"{self._path} is a link; name a file.")
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file: TextIO = self._path.open("w", encoding="utf-8", newline="")
        print(f"#{json.dumps({'t_start': time.time(), 'env_id': parameters['env_id']})}", file=self._file)
        self._rows: Any = csv.writer(self._file)
        self._rows.writerow(["r", "l", "t", "purpose", "seed"])

    def on_event(self, event: Event) -> None:
        """Write the event's episodes."""
        self._began = self._began or event.t
        super().on_event(event)
        self._file.flush()

    def episode(self, purpose: str, episode: EpisodeRecord, at: float | None) -> None:
        """See `Tracker.episode`."""
        seconds = "" if at is None or self._began is None else round(at - self._began, 3)
        seed = episode.seed if episode.seed >= 0 else ""
        self._rows.writerow([round(episode.return_, 6), episode.steps or "", seconds, purpose, seed])

    def close(self, policy: Path | None) -> None:
        """See `Tracker.close`."""
        self._file.close()
