"""MLflow."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from promptpo.errors import MissingExtraError, UsageError
from promptpo.output.tracking.base import Tracker


class MLflow(Tracker):
    """Sends to MLflow, with its own client.

    Args:
        uri: Tracking URI, for example ``file:mlruns`` or ``http://localhost:5000``.

    Raises:
        MissingExtraError: mlflow is not installed.
    """

    def __init__(self, uri: str) -> None:
        super().__init__()
        try:
            client = import_module("mlflow").MlflowClient
            refused = import_module("mlflow.exceptions").MlflowException
        except ImportError as error:
            raise MissingExtraError("MLflow is not installed: pip install mlflow-skinny") from error
        if uri.startswith("file:"):
            # MLflow would rather see a database; whoever writes file: has decided.
            os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
        try:
            self._client: Any = client(tracking_uri=uri)
        except refused as error:
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
