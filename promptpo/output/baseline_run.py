"""Runs of baselines as they are displayed, read from their directories, whatever the algorithm.

A baseline writes ``config.json`` when it begins and ``result.json`` when it is done; until then, its newest checkpoint
holds the curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promptpo.core.candidate import Seeds
from promptpo.core.journal import JOURNAL, adapter
from promptpo.errors import NoSuchRunError
from promptpo.files import Json, read_json, reading
from promptpo.output.recorded_result import RecordedResult
from promptpo.output.report.result import RESULT
from promptpo.output.run_view import RunView, read_view
from promptpo.rollouts.evaluation import EpisodeRecord
from promptpo.run.config_file import CONFIG
from promptpo.run.origin import SETTINGS

CHECKPOINTS, RECORD = "checkpoints", "record.json"


@dataclass(frozen=True, slots=True)
class BaselinePoint:
    """Validation of a baseline at one point of its training.

    Attributes:
        steps: Training steps taken.
        mean_return: Mean return on validation seeds, or else of the latest training episodes; None if none finished.
        train_mean_return: Mean return of the latest training episodes; None if not recorded.
        wall_seconds: Time of training and validation; None if not recorded.
        validation_steps: Steps of validation by then.
    """

    steps: float
    mean_return: float | None = None
    train_mean_return: float | None = None
    wall_seconds: float | None = None
    validation_steps: int = 0


@dataclass(frozen=True, slots=True)
class BaselineRun:
    """A run of a baseline, finished or not.

    Attributes:
        directory: The run directory.
        content: Content of ``result.json``; as much of it as is known while the run is unfinished.
        finished: Whether the run is finished.
        settings: Content of ``config.json``; empty if there is none.
        points: Points of the learning curve, oldest first.
        episodes: Training episodes, with their lengths, if recorded.
    """

    directory: Path
    content: Json
    finished: bool
    settings: Json
    points: tuple[BaselinePoint, ...]
    episodes: tuple[EpisodeRecord, ...]

    @property
    def record(self) -> RecordedResult:
        """`content` as a typed value."""
        return RecordedResult.read(self.content)

    @property
    def result(self) -> Json | None:
        """Content of ``result.json``; None while the run is unfinished."""
        return self.content if self.finished else None

    @property
    def curve(self) -> tuple[tuple[float, float], ...]:
        """(environment steps, mean return) of every evaluation, whether or not it improved; as in a search, all steps count."""
        return tuple(
            (self.content["steps"].get("tune", 0) + point.steps + point.validation_steps, point.mean_return)
            for point in self.points
            if point.mean_return is not None
        )

    @property
    def test_returns(self) -> dict[int, float]:
        """Return by seed of the held-out episodes."""
        returns = self.record.test.returns
        return {
            seed: value
            for seed, value in zip(Seeds().test(len(returns)), returns, strict=True)
            if value is not None
        }


def is_baseline(directory: Path) -> bool:
    """Whether a directory is the run of a baseline rather than one of promptpo."""
    if (directory / CONFIG).is_file():
        return False
    begun = (directory / CHECKPOINTS).exists() or (directory / JOURNAL).exists()
    return (begun and (directory / SETTINGS).is_file()) or (directory / RESULT).is_file()


def read_run(directory: Path) -> RunView | BaselineRun:
    """Read a run, finished or not.

    Raises:
        RunError: It is not a run, or cannot be read.
    """
    return read_baseline(directory) if is_baseline(directory) else read_view(directory)


def read_baseline(directory: Path) -> BaselineRun:
    """Read the run of a baseline.

    Raises:
        RunError: It is not one, or cannot be read.
    """
    finished, settings = (directory / RESULT).is_file(), _object(directory / SETTINGS)
    newest = max(
        (directory / CHECKPOINTS).glob(f"steps-*/{RECORD}"), default=directory / CHECKPOINTS / RECORD
    )
    with reading(directory):
        record = _object(newest)
        content = _object(directory / RESULT) if finished else _so_far(settings, record)
        if not isinstance(content.get("env_id"), str):
            raise NoSuchRunError(f"{directory} is not a run directory: there is no readable {RESULT} in it.")
        steps = {name: int(count) for name, count in (content.get("steps") or {}).items()}
        points = adapter(tuple[BaselinePoint, ...]).validate_python(content.get("curve") or ())
        episodes = tuple(
            EpisodeRecord(-1, return_, length) for _, return_, length in record.get("episodes", ())
        )
    return BaselineRun(directory, {**content, "steps": steps}, finished, settings, points, episodes)


def _object(path: Path) -> dict[str, Any]:
    """Read a JSON object; empty if there is no such file."""
    try:
        return {**read_json(path)} if path.is_file() else {}
    except (OSError, ValueError, TypeError) as error:
        raise NoSuchRunError(
            f"{path.parent} is not a run directory: there is no readable {path.name} in it."
        ) from error


def _so_far(settings: Json, record: Json) -> dict[str, Any]:
    """Return a provisional result, from the settings and the record of the newest checkpoint."""
    steps = {"train": record.get("steps", 0), "validation": record.get("validation_steps", 0)}
    return {
        **(settings.get("task") or settings),
        "method": "refine" if settings.get("prior") else settings.get("algorithm") or settings.get("method"),
        "seed": settings.get("seed"),
        "steps": {**steps, "total": sum(steps.values())},
        "wall_seconds": (record.get("curve") or [{}])[-1].get("wall_seconds"),
        "curve": record.get("curve"),
        "finished": False,
    }
