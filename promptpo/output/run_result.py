"""A run that has ended, as a value."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promptpo.errors import RunError
from promptpo.output.exporting import BEST
from promptpo.output.report.result import RESULT
from promptpo.output.run_view import read_view
from promptpo.run.config import CONFIG, load_config


@dataclass(frozen=True)
class RunResult:
    """What a run gave.

    Attributes:
        directory: The run directory.
        data: The content of ``result.json``.
        source: The best policy's module, without the exporter's additions; empty when nothing ran.
    """

    directory: Path
    data: Mapping[str, Any]
    source: str

    @property
    def mean_return(self) -> float:
        """Mean return on held-out test seeds; NaN when no policy ran."""
        test = self.data["test"]
        return test["mean_return"] if test and test["mean_return"] is not None else math.nan

    @property
    def ci95(self) -> tuple[float, float]:
        """Its 95 % bootstrap interval."""
        low, high = self.data["test"]["ci95"] if self.data["test"] else (math.nan, math.nan)
        return low, high

    @property
    def stop_reason(self) -> str:
        """Why the run ended."""
        return str(self.data["stop_reason"])

    @property
    def policy_path(self) -> Path:
        """The exported file."""
        return self.directory / BEST

    def _repr_html_(self) -> str:
        """What a notebook shows: the numbers, the best policy's source, and where the report is."""
        from promptpo.output.report.notebook import summary

        return summary(self.directory, self.data, self.source)

    def __repr__(self) -> str:
        low, high = self.ci95
        return (
            f"RunResult({self.data['env_id']}: held-out return {self.mean_return:.6g} "
            f"[{low:.6g}, {high:.6g}], {self.directory})"
        )


def load_run(run: str | os.PathLike[str]) -> RunResult:
    """The result of a run that has ended.

    Raises:
        RunError: There is no result yet, or it cannot be read.
    """
    directory = Path(run)
    load_config(directory / CONFIG)
    try:
        content = json.loads((directory / RESULT).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(
            f"{directory} has no result yet; finish it with: promptpo resume {directory}"
        ) from error
    best = content["best"]
    source = best_source(directory, best["candidate"]) if best else ""
    return RunResult(directory, content, source)


def best_source(directory: Path, candidate: str) -> str:
    """The module of one candidate, from the journal; "best" names the best.

    Raises:
        RunError: The run has no such candidate.
    """
    return read_view(directory).candidate(candidate).attempt.candidate.source
