"""Monitor files: a line for each episode."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from promptpo.errors import UsageError
from promptpo.output.run_result import RunResult
from promptpo.output.tracking.base import Tracker
from promptpo.rollouts.evaluation import EpisodeRecord
from promptpo.rollouts.results import record_of
from promptpo.run.artifacts import inflate
from promptpo.run.journal import Event
from promptpo.run.state import evaluation_in


class Monitor(Tracker):
    """Writes every episode as a line of a monitor file, as stable-baselines3's plotting reads it.

    The columns ``r,l,t`` are return, length and seconds since the run began; ``purpose`` says what the
    episode was for, ``seed`` how it was reset.

    Args:
        path: File to write; by custom it ends in ``monitor.csv``.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = Path(path)
        self._file: TextIO | None = None
        self._rows: Any = None
        self._started = 0.0

    def open(self, directory: Path, parameters: Mapping[str, Any]) -> None:
        """See `Tracker.open`."""
        del directory
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("w", encoding="utf-8", newline="")
        except OSError as error:
            raise UsageError(f"cannot write {self._path}: {error.strerror}.") from error
        self._started = 0.0
        self._file.write(f"#{json.dumps({'t_start': time.time(), 'env_id': parameters['env_id']})}\n")
        self._rows = csv.writer(self._file)
        self._rows.writerow(["r", "l", "t", "purpose", "seed"])

    def event(self, event: Event) -> None:
        """Write the event's episodes."""
        self._started = self._started or event.t
        for purpose, episode in episodes_of(event):
            row = [round(episode.return_, 6), episode.steps, round(event.t - self._started, 3)]
            self._rows.writerow([*row, purpose, episode.seed])
        if self._file is not None:
            self._file.flush()

    def log(self, metrics: Mapping[str, float], step: int, at: float) -> None:
        """See `Tracker.log`; a monitor file holds episodes only."""

    def episode(self, purpose: str, return_: float, steps: int | None, seed: int | None) -> None:
        """See `Tracker.episode`; when it was played is not recorded."""
        known = ["" if value is None else value for value in (steps, None)]
        self._rows.writerow([round(return_, 6), *known, purpose, "" if seed is None else seed])

    def finished(self, run: RunResult) -> None:
        """Close the file; the test's episodes were written as they came."""
        self.close(run.policy_path)

    def close(self, policy: Path | None) -> None:
        """See `Tracker.close`."""
        del policy
        if self._file is not None:
            self._file.close()


def episodes_of(event: Event) -> Iterator[tuple[str, EpisodeRecord]]:
    """(purpose, episode) of every finished episode that an event holds."""
    purpose = {"evaluation": "train"}.get(event.kind, event.kind)
    if purpose in {"train", "validation", "test", "held_out", "reference"}:
        for episode in evaluation_in(event).episodes:
            yield purpose, episode
    elif event.kind == "tuning":
        for rollout in inflate(event.data["rollouts"]):
            for tried in rollout.episodes:
                if tried.failure is None:
                    yield "tune", record_of(tried)
