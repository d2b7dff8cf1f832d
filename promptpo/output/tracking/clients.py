"""Dashboards, each by its own client, which is imported when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from promptpo.errors import MissingExtraError, UsageError
from promptpo.output.tracking.base import Tracker
from promptpo.run.origin import made_here


def _client(name: str, module: str, package: str) -> Any:
    """A dashboard's own module.

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
        super().__init__()
        self._new = _client("TensorBoard", "tensorboard.summary", '"promptpo[tracking]"').Writer
        self._folder = Path(folder)
        self._writer: Any = None

    def open(self, directory: Path, parameters: Mapping[str, Any]) -> None:
        """See `Tracker.open`."""
        del parameters
        self._writer = self._new(str(self._folder / directory.resolve().name))

    def log(self, metrics: Mapping[str, float], step: int, at: float) -> None:
        """See `Tracker.log`."""
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step, wall_time=at)

    def close(self, policy: Path | None) -> None:
        """See `Tracker.close`."""
        del policy
        self._writer.close()


class WandB(Tracker):
    """Sends to Weights & Biases; WANDB_MODE=offline writes to disk only.

    Args:
        project: Name of the project.
    """

    def __init__(self, project: str) -> None:
        super().__init__()
        self._wandb = _client("Weights & Biases", "wandb", "wandb")
        self._project = project
        self._run: Any = None

    def open(self, directory: Path, parameters: Mapping[str, Any]) -> None:
        """See `Tracker.open`."""
        self._run = self._wandb.init(
            project=self._project,
            name=directory.resolve().name,
            dir=str(directory) if made_here(directory) else None,  # nothing is written into a stranger's run
            config=dict(parameters),
        )

    def log(self, metrics: Mapping[str, float], step: int, at: float) -> None:
        """See `Tracker.log`."""
        del at
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
        super().__init__()
        mlflow = _client("MLflow", "mlflow", "mlflow-skinny")
        if uri.startswith("file:"):
            # MLflow would rather see a database; whoever writes file: has decided.
            os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
        try:
            self._client: Any = mlflow.MlflowClient(tracking_uri=uri)
        except mlflow.MlflowException as error:
            raise UsageError(f"MLflow cannot use {uri}: {str(error).splitlines()[0]}") from error
        self._run_id = ""

    def open(self, directory: Path, parameters: Mapping[str, Any]) -> None:
        """See `Tracker.open`."""
        experiment = self._client.get_experiment_by_name("promptpo")
        experiment_id = experiment.experiment_id if experiment else self._client.create_experiment("promptpo")
        run = self._client.create_run(experiment_id, run_name=directory.resolve().name)
        self._run_id = run.info.run_id
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
