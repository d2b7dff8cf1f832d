"""Runs of baselines as people look at them: read from what they leave on disk, whatever learnt.

A baseline leaves ``result.json`` when it is done and ``config.json`` when it begins; until it is done its newest
checkpoint has the curve, and a run of ICPI its journal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from promptpo.errors import NoSuchRunError
from promptpo.files import Json, read_json
from promptpo.output.report.result import RESULT
from promptpo.output.run_view import read_result
from promptpo.rollouts.evaluation import EpisodeRecord
from promptpo.run.config import CONFIG
from promptpo.run.journal import JOURNAL, adapter, read_events
from promptpo.run.origin import SETTINGS
from promptpo.run.records import Seeds
from promptpo.telling.feedback import number

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
        wall_seconds: Of training; None where it is not recorded.
    """

    steps: float
    mean_return: float | None = None
    train_mean_return: float | None = None
    wall_seconds: float | None = None


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
    result: Json | None
    settings: Json = field(default_factory=dict)
    curve: tuple[BaselinePoint, ...] = ()
    episodes: tuple[EpisodeRecord, ...] = ()
    steps: Mapping[str, int] = field(default_factory=dict)
    seconds: float | None = None

    @property
    def task(self) -> Json:
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
        result = read_result(directory / RESULT) if (directory / RESULT).is_file() else None
        settings, record = _object(directory / SETTINGS), _record(directory)
        ended, told = _episodes(directory, record), result
        if told is not None and not told.get("env_id"):
            raise KeyError("env_id")
        if told is None:
            steps = {"train": int(record.get("steps") or sum(length for *_, length in ended))}
            steps["validation"] = int(record.get("validation_steps") or 0)
            parts: list[Any] = [record.get("train_seconds"), record.get("evaluation_seconds")]
            told = {**record, "steps": steps | {"total": sum(steps.values())}}
            told |= {"wall_seconds": None if None in parts else sum(parts)}
        curve = adapter(tuple[BaselinePoint, ...]).validate_python(told.get("curve") or ())
        return BaselineRun(
            directory,
            result,
            settings,
            curve or _averages(ended),
            tuple(EpisodeRecord(-1, return_, length) for _, return_, length in ended),
            {name: int(count) for name, count in (told.get("steps") or {}).items()},
            told.get("wall_seconds"),
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise NoSuchRunError(f"{directory} is no run: there is no readable {RESULT} in it.") from error


def _object(path: Path) -> dict[str, Any]:
    """A JSON object; empty where there is no such file."""
    return {**read_json(path)} if path.is_file() else {}


def _record(directory: Path) -> Json:
    """The record of the newest checkpoint; empty where there is none."""
    return _object(
        max((directory / CHECKPOINTS).glob(f"steps-*/{RECORD}"), default=directory / CHECKPOINTS / RECORD)
    )


def _episodes(directory: Path, record: Json) -> list[tuple[float, float, int]]:
    """(training steps at its end, return, length) of training episodes, where they are recorded."""
    found: list[Any] = list(record.get("episodes") or ())
    if not record and (directory / JOURNAL).is_file():
        told = [event.data for event in read_events(directory / JOURNAL) if event.kind == "evaluation"]
        found = [(one["end_step"], one["return_"], len(one["transitions"])) for one in told]
    return [(float(steps), float(return_), int(length)) for steps, return_, length in found]


def _averages(ended: Sequence[tuple[float, float, int]]) -> tuple[BaselinePoint, ...]:
    """A curve of training episodes."""
    points = []
    for n in range(AVERAGED, len(ended) + 1, AVERAGED):
        mean = fmean(return_ for _, return_, _ in ended[n - AVERAGED : n])
        points.append(BaselinePoint(ended[n - 1][0], mean, mean))
    return tuple(points)


def acting_in_words(content: Json) -> list[str]:
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


def _took(spent: Json) -> str:
    usd = spent["cost_usd"]
    price = "an unknown price" if usd is None else "$0" if not usd else f"${usd:.4g}"
    return f"{spent['calls']:,.4g} call{'' if spent['calls'] == 1 else 's'}, {spent['seconds']:,.3g} s and {price}"
