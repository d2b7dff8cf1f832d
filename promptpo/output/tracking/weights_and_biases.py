"""Weights & Biases."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from promptpo.errors import MissingExtraError
from promptpo.output.tracking.base import Tracker


class WandB(Tracker):
    """Sends to Weights & Biases, with its own client; WANDB_MODE=offline writes to disk only.

    Args:
        project: Name of the project.

    Raises:
        MissingExtraError: wandb is not installed.
    """

    def __init__(self, project: str) -> None:
        super().__init__()
        try:
            self._wandb: Any = import_module("wandb")
        except ImportError as error:
            raise MissingExtraError("Weights & Biases is not installed: pip install wandb") from error
        self._project = project
        self._run: Any = None

    def open(self, directory: Path, parameters: Mapping[str, Any]) -> None:
        """See `Tracker.open`."""
        name = directory.resolve().name
        self._run = self._wandb.init(
            project=self._project, name=name, dir=str(directory), config=dict(parameters)
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
