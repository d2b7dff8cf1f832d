"""A run's directory as it is displayed: its state, and its result if it has one."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from promptpo.core.candidate import REFERENCE_TEST, Seeds
from promptpo.core.config import Config
from promptpo.core.control import StopReason
from promptpo.core.final_test import Outcome
from promptpo.core.returns import Evidence
from promptpo.errors import NoSuchRunError, RunError
from promptpo.files import Json, read_json
from promptpo.llm.choose import SEARCH
from promptpo.output.recorded_result import RecordedResult
from promptpo.output.report.result import RESULT, result
from promptpo.output.report.scores import count_failures_as_worst
from promptpo.output.sentences import REFERENCES
from promptpo.run.state import CandidateState, RunState, Spent, read_state

if TYPE_CHECKING:
    from promptpo.features.experiments.records import Experiment


@dataclass(frozen=True)
class RunView:
    """A run, finished or not.

    Attributes:
        directory: The run directory.
        state: The state replayed from its journal.
        result: Content of ``result.json``; None while the run is unfinished, or after it has been resumed.
    """

    directory: Path
    state: RunState
    result: Json | None

    @property
    def config(self) -> Config:
        """Configuration of the run."""
        return self.state.config

    @functools.cached_property
    def candidates(self) -> tuple[CandidateState, ...]:
        """Every candidate, in the order of rounds and IDs."""
        return self.state.candidates

    @property
    def best(self) -> CandidateState | None:
        """The best candidate by the result; during the run, the best so far."""
        if self.result is None:
            return self.state.best
        return self.state.candidate(RecordedResult.read(self.result).best.candidate)

    @property
    def so_far(self) -> list[tuple[Spent, float]]:
        """Improvements of the best: by training episodes until the first was validated, then by all evidence."""
        judged = [(spent, score.mean_return) for spent, score in self.state.best_so_far]
        until = judged[0][0].steps if judged else math.inf
        found: list[tuple[Spent, float]] = []
        for candidate in sorted(self.candidates, key=lambda candidate: candidate.spent.steps):
            mean = candidate.attempt.evaluation.mean_return
            if candidate.ran and candidate.spent.steps < until and (not found or mean > found[-1][1]):
                found.append((candidate.spent, mean))
        return found + judged

    @property
    def lineage(self) -> list[CandidateState]:
        """The best candidate and all its ancestors, in the order of rounds and IDs."""
        left, found = [self.best.id] if self.best else [], set()
        while left:
            ancestor = self.state.candidate(left.pop())
            if ancestor is not None and ancestor.id not in found:
                found.add(ancestor.id)
                left += ancestor.attempt.candidate.parents
        return [candidate for candidate in self.candidates if candidate.id in found]

    @property
    def finished(self) -> bool:
        """Whether it has ended and has a result."""
        return bool(self.result and self.state.stop)

    @property
    def curve(self) -> tuple[tuple[float, float], ...]:
        """(environment steps, mean return of the best so far) each time it changed."""
        return tuple((float(at.steps), mean) for at, mean in self.so_far)

    @property
    def content(self) -> Json:
        """Content of ``result.json``; a provisional one while the run is unfinished."""
        content = self.result
        if content is None:
            best, asked = self.state.best, self.config.model != SEARCH
            stands = Outcome(self.state.history, best.attempt if best else None, None, None, StopReason())
            content = result(self.state, stands, horizon=0, language_model=asked)
            content |= {"model": self.config.model, "finished": False}
        return {**content, "max_episode_steps": self.config.task.max_episode_steps}

    @property
    def test_returns(self) -> dict[int, float]:
        """Return by seed of the held-out episodes; one in which the policy failed counts as the worst."""
        test = self.state.test if self.result is not None else None
        if test is None:
            return {}
        episodes = count_failures_as_worst(test, Seeds().test(self.state.planned_test))
        return {episode.seed: episode.return_ for episode in episodes}

    @property
    def references(self) -> dict[str, Evidence]:
        """Episodes of reference policies by their names in sentences: on test seeds if played there, else earlier ones."""
        found = self.state.history.reference_evaluations
        names = sorted({key.removesuffix(REFERENCE_TEST) for key in found})
        played = {name: (found.get(f"{name}{REFERENCE_TEST}") or found[name]).episodes for name in names}
        return {
            REFERENCES.get(name, name): Evidence.of(episodes)
            for name, episodes in played.items()
            if not name.endswith(".compared")
        }

    @property
    def rounds(self) -> tuple[int, ...]:
        """The rounds that have candidates."""
        return tuple(sorted({state.round for state in self.candidates}))

    @property
    def experiments(self) -> list[Experiment]:
        """The experiments, oldest first."""
        from promptpo.features.experiments.records import experiments_in

        return experiments_in(self.state.payloads["experiment"])

    def experiment(self, name: str) -> Experiment | None:
        """Return the experiment with that ID; None if there is none."""
        return next((experiment for experiment in self.experiments if experiment.id == name), None)

    def candidate(self, name: str) -> CandidateState:
        """Return the candidate with that ID; "best" names the best.

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


def read_view(directory: Path) -> RunView:
    """Read a run directory; its lock is not taken, so this works during the run.

    Raises:
        RunError: It is not a readable run.
    """
    state, path = read_state(directory), directory / RESULT
    if not path.exists() or (len(state.sessions) > 1 and not state.stop):
        return RunView(directory, state, None)
    try:
        result = dict(read_json(path))
        RecordedResult.read(result)
        if not {"env_id", "stop_reason", "best", "test"} <= result.keys():
            raise ValueError(path)
        return RunView(directory, state, result)
    except (OSError, ValueError) as error:
        raise RunError(f"{path} cannot be read; write it again with: promptpo resume {directory}") from error
