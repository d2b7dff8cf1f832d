"""A run's directory as people look at it: its state, and its result where it has one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promptpo.errors import NoSuchRunError, RunError
from promptpo.files import read_regular
from promptpo.output.report.result import RESULT
from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.config import Config
from promptpo.run.records import REFERENCE_TEST, Experiment
from promptpo.run.state import RunState, read_state
from promptpo.run.state_values import CandidateState, Spent
from promptpo_sandbox.text import clean_values


@dataclass(frozen=True, slots=True)
class RunView:
    """A run, finished or not.

    Attributes:
        directory: The run directory.
        state: What its journal tells.
        result: Content of ``result.json``; None while the run is not finished, or has gone on since.
    """

    directory: Path
    state: RunState
    result: Mapping[str, Any] | None

    @property
    def config(self) -> Config:
        """What decided the run."""
        return self.state.config

    @property
    def candidates(self) -> tuple[CandidateState, ...]:
        """Every candidate, in the order of rounds and ids."""
        return self.state.candidates

    @property
    def best(self) -> CandidateState | None:
        """The best candidate by the result; while the run goes on, the best so far."""
        if self.result is None:
            return self.state.best
        return self.state.candidate((self.result["best"] or {}).get("candidate", ""))

    @property
    def so_far(self) -> list[tuple[Spent, float]]:
        """How the best improved: by training episodes until the first was judged, then by all that is known of it."""
        judged = [(one.spent, one.mean_return) for one in self.state.best_so_far]
        found: list[tuple[Spent, float]] = []
        for one in sorted(self.candidates, key=lambda one: one.spent.steps):
            mean, early = (
                one.attempt.evaluation.mean_return,
                not judged or one.spent.steps < judged[0][0].steps,
            )
            if one.ran and early and (not found or mean > found[-1][1]):
                found.append((one.spent, mean))
        return found + judged

    @property
    def references(self) -> dict[str, Evaluation]:
        """What the marks earn, by name: on test seeds where they were measured there, else before."""
        found = self.state.references
        names = sorted({key.removesuffix(REFERENCE_TEST) for key in found})  # not as they came in
        return {name: found.get(f"{name}{REFERENCE_TEST}") or found[name] for name in names}

    @property
    def rounds(self) -> tuple[int, ...]:
        """The rounds that have candidates."""
        return tuple(sorted({state.round for state in self.candidates}))

    def experiment(self, name: str) -> Experiment | None:
        """The experiment of that id; None where there is none."""
        return next((one for one in self.state.experiments if one.id == name), None)

    def candidate(self, name: str) -> CandidateState:
        """The candidate of that id; "best" names the best.

        Raises:
            RunError: The run has no such candidate.
        """
        found = self.best if name == "best" else self.state.candidate(name)
        if found is not None:
            return found
        if name == "best":
            raise RunError(f"no candidate of {self.directory} ran; see: promptpo show {self.directory}")
        known = ", ".join(state.id for state in self.candidates)
        raise NoSuchRunError(
            f"{self.directory} has no candidate {name}; it has: {f'best, {known}' if known else 'none'}."
        )


def read_result(path: Path) -> Mapping[str, Any]:
    """A result file, wherever it comes from: its texts are clean, its parts are what they must be.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no result.
    """
    try:
        result = clean_values(json.loads(read_regular(path)))
    except RecursionError as error:
        raise ValueError(f"{path} is nested too deeply") from error
    kinds: dict[str, type | tuple[type, ...]] = {
        "env_id": str, "env_kwargs": dict, "model": str, "method": str, "seed": int, "best": dict, "test": dict,
        "stop_reason": str, "llm": dict, "steps": dict, "wall_seconds": (int, float), "curve": list,
    }  # fmt: skip
    if not isinstance(result, dict) or not all(
        value is None or isinstance(value, kinds.get(name, object)) for name, value in result.items()
    ):
        raise ValueError(f"{path} is no result")
    return result


def _of_search(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """The result of a search, which has parts that those of baselines need not have.

    Raises:
        ValueError: It lacks one.
    """
    best, test = result.get("best"), result.get("test")
    wanted = [result.get("env_id"), result.get("stop_reason"), *([best.get("candidate")] if best else [])]
    if not all(isinstance(text, str) for text in wanted):
        raise ValueError("it lacks a part")
    if test:
        numbers = [*test["returns"], test["mean_return"], *test["ci95"], test["success_rate"]]
        if (
            not all(value is None or isinstance(value, int | float) for value in numbers)
            or len(test["ci95"]) != len(("low", "high"))
            or not isinstance(test["episodes"], int)
        ):
            raise ValueError("its test is no test")
    return result


def read_view(directory: Path) -> RunView:
    """Read a run directory; its lock is not taken, so this works while the run goes on.

    Raises:
        RunError: It is not a readable run.
    """
    state, path = read_state(directory), directory / RESULT
    if not path.exists() or (len(state.sessions) > 1 and not state.finished):
        return RunView(directory, state, None)
    try:
        return RunView(directory, state, _of_search(read_result(path)))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"{path} cannot be read; write it again with: promptpo resume {directory}") from error
