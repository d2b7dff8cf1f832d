"""The result of a run that has ended, and its policy as a file that runs without promptpo."""

from __future__ import annotations

import functools
import math
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from promptpo.core.config import Config
from promptpo.core.control import StopReason
from promptpo.core.journal import how_to_finish
from promptpo.envs.task import Task, label_of
from promptpo.errors import MissingExtraError, NoSuchRunError, UsageError
from promptpo.files import Json, StrPath, reading
from promptpo.output.exporting import BEST, GIVEN, SEARCH, Provenance, export_text
from promptpo.output.outcome import outcome
from promptpo.output.recorded_result import RecordedResult
from promptpo.output.run_view import read_view
from promptpo.output.sentences import sentence
from promptpo.run.models import writer_of
from promptpo.run.origin import builds, is_builtin, is_made_here, sign
from promptpo.run.preflight import SOURCES
from promptpo.run.state import CandidateState

HISTORY = (
    "candidate", "round", "parents", "outcome", "mean_return", "standard_error", "episodes", "tuned",
    "duplicate_of", "model", "calls", "steps",
)  # fmt: skip
"""Columns of `RunResult.history`."""


@dataclass(frozen=True)
class TestedResult:
    """The result of a run, of promptpo or of a baseline.

    Attributes:
        directory: The run directory.
        data: The content of ``result.json``.
    """

    directory: Path
    data: Json

    @functools.cached_property
    def record(self) -> RecordedResult:
        """`data` as a typed value, without what is only displayed."""
        return RecordedResult.read(self.data)

    @property
    def mean_return(self) -> float:
        """Mean return on held-out test seeds; NaN if nothing was tested."""
        mean = self.record.test.mean_return
        return math.nan if mean is None else mean

    @property
    def ci95(self) -> tuple[float, float]:
        """Its 95 % bootstrap interval; NaN if nothing was tested, or if episodes are not independent."""
        low, high = self.record.test.ci95
        return (math.nan, math.nan) if low is None or high is None else (low, high)


@dataclass(frozen=True)
class RunResult(TestedResult):
    """The result of a run of promptpo.

    Attributes:
        source: The best policy's module, without the exporter's additions; empty when nothing ran.
    """

    source: str

    @property
    def stop_reason(self) -> str:
        """Why the run ended."""
        return str(self.stop)

    @property
    def stop(self) -> StopReason:
        """The stop reason with its kind, for programs."""
        return StopReason.read(self.data)

    @property
    def candidate(self) -> str:
        """ID of the best candidate; empty if no policy ran."""
        return self.record.best.candidate

    @property
    def policy_path(self) -> Path:
        """The exported file."""
        return self.directory / BEST

    @property
    def history(self) -> Any:
        """Every candidate as a row of a `pandas.DataFrame`, in the order of rounds and ids.

        Columns: candidate, round, parents, outcome, mean_return, standard_error and episodes (of training and
        validation, which judge it), tuned, duplicate_of, model, calls, steps (of the run by the time it had run).

        Raises:
            MissingExtraError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError(
                "history is a pandas data frame, and pandas is not installed: pip install pandas. The same as JSON: "
                f"promptpo show {shlex.quote(str(self.directory))} --json"
            ) from error
        rows = [_row(candidate) for candidate in read_view(self.directory).candidates]
        return pd.DataFrame(rows, columns=HISTORY)

    def _repr_html_(self) -> str:
        """Show the result, the path of the report and the best policy's source in a notebook."""
        summary = Markup('<pre style="white-space:pre-wrap">{}\n{}</pre>').format(
            self, outcome(self.data, self.directory)
        )
        code = Markup("<details><summary>the policy</summary><pre>{}</pre></details>").format(self.source)
        return summary + code if self.source else summary

    def __repr__(self) -> str:
        score = sentence("score", self.data.get("test")) or "nothing ran"
        return f"RunResult({label_of(self.record.env_id)}: held-out return {score}, {self.directory})"


def _row(state: CandidateState) -> tuple[Any, ...]:
    candidate, evidence = state.attempt.candidate, state.evidence
    return (
        candidate.id,
        candidate.round,
        candidate.parents,
        state.attempt.evaluation.outcome,
        evidence.mean_return,
        evidence.standard_error,
        len(evidence.episodes),
        bool(candidate.tuned),
        candidate.duplicate_of,
        writer_of(state),
        len(state.calls),
        state.spent.steps,
    )


def load_run(run: StrPath) -> RunResult:
    """Load the result of a run that has ended.

    Raises:
        RunError: There is no result yet, or it cannot be read.
    """
    view = read_view(Path(run))
    if view.result is None:
        raise NoSuchRunError(f"{run} has no result yet; {how_to_finish(view.directory)}")
    return RunResult(view.directory, view.result, view.best.attempt.candidate.source if view.best else "")


def export(
    run: StrPath,
    *,
    candidate: str | None = None,
    filename: str = "policy.py",
    env_id: str | None = None,
    trust: bool = False,
    confined: bool = False,
) -> str:
    """Return the text of a policy file for the best candidate of a run, or for another one.

    Args:
        run: The run directory.
        candidate: Its ID; None means the best.
        filename: File name in the usage line of the file.
        env_id: The environment that the file plays by default; None means that of the run.
        trust: Whether the file may build the run's environment, whatever it is and whoever made the run.
        confined: Whether the file, run as a program on Linux, confines the policy first.

    Raises:
        RunError: The run or the candidate cannot be read, or nothing ran.
        UsageError: The run was not made here, and its environment is not one of Gymnasium's own.
    """
    directory, content = Path(run), dict(load_run(run).data)
    view = read_view(directory)
    found = view.candidate(candidate or "best").attempt.candidate
    if view.best is None or found.id != view.best.id:
        content |= {
            "best": {"candidate": found.id, "tuned": dict(found.tuned), "origin": found.origin},
            "test": None,
        }
    with reading(directory):
        facts = provenance(directory, content, view.config)
        if env_id is not None:
            facts = replace(facts, task=Task(env_id, reward=facts.task.reward))
        elif not (trust or is_made_here(directory) or is_builtin(facts.task)):
            raise UsageError(
                f"{run} was not made here, and playing a file of it {builds(facts.task)}. If you trust it, add --trust "
                "(trust=True from Python); or name the environment yourself with --env ENV_ID."
            )
        space = dict(view.state.action_space)
        text = export_text(found.source, facts, action_space=space, filename=filename, confined=confined)
    return sign(text) if is_made_here(directory) else text


def provenance(directory: Path, content: Json, config: Config) -> Provenance:
    """Return the facts about a run's best policy for the header."""
    result, model = RecordedResult.read(content), content["model"] if content["language_model"] else SEARCH
    best = result.best
    if best.origin == "user":
        model = f"{result.author} {GIVEN}"
    if best.origin == "network":
        model = f"{model} (the simulator) and PPO in it (the network's numbers)"
    task, ahead = config.task, content.get("preflight")
    if ahead and ahead["horizon_source"] != SOURCES["time limit"]:  # nothing but the run ends an episode
        task = replace(task, max_episode_steps=ahead["horizon"])
    return Provenance(task, model, directory.resolve().name, best.candidate, content, config.files)
