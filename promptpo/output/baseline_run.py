"""Runs of baselines as people look at them: read from what they leave on disk, whatever learnt.

A baseline leaves ``result.json`` when it is done and ``config.json`` when it begins; until it is done its newest
checkpoint has the curve, and a run of ICPI its journal.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from promptpo.errors import NoSuchRunError
from promptpo.files import read_regular
from promptpo.output.report.result import RESULT
from promptpo.output.run_view import read_result
from promptpo.rollouts.evaluation import EpisodeRecord
from promptpo.run.config import CONFIG
from promptpo.run.journal import JOURNAL, read_events
from promptpo.run.origin import SETTINGS
from promptpo.run.records import Seeds
from promptpo.telling.feedback import number
from promptpo_sandbox.text import clean_values

CHECKPOINTS, RECORD = "checkpoints", "record.json"

AVERAGED = 20
"""Training episodes that one point of a curve is of, where nothing was evaluated on the way."""


@dataclass(frozen=True, slots=True)
class BaselinePoint:
    """What a baseline was worth at one moment.

    Attributes:
        steps: Training steps taken.
        mean_return: On validation seeds; of the latest training episodes where there were none; None where nothing finished.
        train_mean_return: Of the latest training episodes; None where it is not recorded.
        seconds: Of training; None where it is not recorded.
    """

    steps: float
    mean_return: float | None
    train_mean_return: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class BaselineRun:
    """A run of a baseline, finished or not.

    Attributes:
        directory: Of the run.
        result: Content of ``result.json``; None while it is not finished.
        settings: Content of ``config.json``; empty where there is none.
        curve: Oldest first.
        episodes: Training episodes, with their lengths, where they are recorded.
        steps: By purpose, as far as known.
        seconds: That it took so far; None where it is not known.
    """

    directory: Path
    result: Mapping[str, Any] | None
    settings: Mapping[str, Any] = field(default_factory=dict)
    curve: tuple[BaselinePoint, ...] = ()
    episodes: tuple[EpisodeRecord, ...] = ()
    steps: Mapping[str, int] = field(default_factory=dict)
    seconds: float | None = None

    @property
    def task(self) -> Mapping[str, Any]:
        """What is solved: ``env_id`` and more, from the result or the settings."""
        return self.result or self.settings.get("task") or self.settings

    @property
    def env_id(self) -> str:
        """The environment."""
        return str(self.task.get("env_id") or "")

    @property
    def method(self) -> str:
        """The baseline's name."""
        known = self.result or ({"method": "refine"} if self.settings.get("prior") else {})
        return str(known.get("method") or self.settings.get("algorithm") or self.settings.get("method") or "")

    @property
    def seed(self) -> int | None:
        """As given; None where it is not recorded."""
        found = (self.result or self.settings).get("seed")
        return found if isinstance(found, int) else None

    def test_episodes(self) -> Iterator[tuple[int, float]]:
        """(seed, return) of the held-out episodes."""
        returns = ((self.result or {}).get("test") or {}).get("returns") or ()
        for seed, value in zip(Seeds().test(len(returns)), returns, strict=True):
            if value is not None:
                yield seed, float(value)


def is_baseline(directory: Path) -> bool:
    """Whether a directory is the run of a baseline, and not one of promptpo's own."""
    if (directory / CONFIG).is_file():
        return False
    begun = (directory / SETTINGS).is_file() and any(
        (directory / name).exists() for name in (CHECKPOINTS, JOURNAL)
    )
    return begun or (directory / RESULT).is_file()


def read_baseline(directory: Path) -> BaselineRun:
    """Read the run of a baseline.

    Raises:
        RunError: It is none, or cannot be read.
    """
    if not is_baseline(directory):
        raise NoSuchRunError(f"{directory} is no run: there is neither {CONFIG} nor {RESULT} in it.")
    try:
        settings = _json(directory / SETTINGS) if (directory / SETTINGS).is_file() else {}
        result = read_result(directory / RESULT) if (directory / RESULT).is_file() else None
        if result is not None and not isinstance(result.get("env_id"), str):
            raise KeyError("env_id")
        record = _record(directory)
        episodes, curve = _training(directory, record)
        curve = _curve((result or record).get("curve") or ()) or curve
        return BaselineRun(
            directory,
            result,
            settings,
            curve,
            episodes,
            _steps(result, record, episodes),
            _seconds(result, record),
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise NoSuchRunError(f"{directory} is no run: there is no readable {RESULT} in it.") from error


def _json(path: Path) -> dict[str, Any]:
    found = clean_values(json.loads(read_regular(path)))
    if not isinstance(found, dict):
        raise TypeError(f"{path} holds no object")
    return found


def _record(directory: Path) -> Mapping[str, Any]:
    """The record of the newest checkpoint; empty where there is none."""
    for checkpoint in sorted((directory / CHECKPOINTS).glob("steps-*"), reverse=True):
        if (checkpoint / RECORD).is_file():
            return _json(checkpoint / RECORD)
    return {}


def _training(
    directory: Path, record: Mapping[str, Any]
) -> tuple[tuple[EpisodeRecord, ...], tuple[BaselinePoint, ...]]:
    """Training episodes, and a curve of their returns."""
    ended: list[tuple[float, EpisodeRecord]] = []
    for steps, return_, length in record.get("episodes") or ():
        ended.append((float(steps), EpisodeRecord(-1, float(return_), int(length))))
    if not record and (directory / JOURNAL).is_file():
        for event in read_events(directory / JOURNAL):
            if event.kind == "evaluation":
                data = event.data
                one = EpisodeRecord(int(data["seed"]), float(data["return_"]), len(data["transitions"]))
                ended.append((float(data["end_step"]), one))
    curve = []
    for n in range(AVERAGED, len(ended) + 1, AVERAGED):
        latest = [episode.return_ for _, episode in ended[n - AVERAGED : n]]
        mean = sum(latest) / len(latest)
        curve.append(BaselinePoint(ended[n - 1][0], mean, mean))
    return tuple(episode for _, episode in ended), tuple(curve)


def _curve(points: Sequence[Mapping[str, Any]]) -> tuple[BaselinePoint, ...]:
    names = {
        "mean_return": "mean_return",
        "train_mean_return": "train_mean_return",
        "seconds": "wall_seconds",
    }
    return tuple(
        BaselinePoint(
            float(point["steps"]), **{ours: _number(point.get(theirs)) for ours, theirs in names.items()}
        )
        for point in points
    )


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _steps(
    result: Mapping[str, Any] | None, record: Mapping[str, Any], episodes: Sequence[EpisodeRecord]
) -> dict[str, int]:
    if result is not None:
        return {name: int(steps) for name, steps in (result.get("steps") or {}).items()}
    train = int(record.get("steps") or sum(episode.steps for episode in episodes))
    validation = int(record.get("validation_steps") or 0)
    return {"train": train, "validation": validation, "total": train + validation}


def _seconds(result: Mapping[str, Any] | None, record: Mapping[str, Any]) -> float | None:
    if result is not None:
        return _number(result.get("wall_seconds"))
    parts = [record.get("train_seconds"), record.get("evaluation_seconds")]
    return sum(map(float, parts)) if None not in parts else None  # type: ignore[arg-type] # none is None


def acting_in_words(content: Mapping[str, Any]) -> list[str]:
    """What an episode took, and what a program took, a line each; empty where nothing says it."""
    agent = content.get("per_episode")
    if not agent:
        return []
    lines = [f"An episode took {_took(agent)}."]
    program = content.get("program")
    if program:
        mean = program.get("mean_return")
        score = f", held-out return {number(mean)}" if mean is not None else ""
        lines.append(f"The program {program['policy']} takes {_took(program['per_episode'])}{score}.")
    return lines


def _took(spent: Mapping[str, Any]) -> str:
    usd = spent["cost_usd"]
    price = "an unknown price" if usd is None else "$0" if not usd else f"${usd:.4g}"
    return f"{spent['calls']:,.4g} call{'' if spent['calls'] == 1 else 's'}, {spent['seconds']:,.3g} s and {price}"
