"""TensorBoard event files."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from promptpo.errors import MissingExtraError
from promptpo.output.tracking.base import Tracker


class TensorBoard(Tracker):
    """Writes TensorBoard event files, with tensorboard's own writer.

    Args:
        folder: Log directory; the run gets a folder of its own in it.

    Raises:
        MissingExtraError: tensorboard is not installed.
    """

    def __init__(self, folder: str) -> None:
        super().__init__()
        try:
            self._new: Any = import_module("tensorboard.summary").Writer
        except ImportError as error:
            raise MissingExtraError(
                'TensorBoard is not installed: pip install "promptpo[tracking]"'
            ) from error
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
