"""Base of all trackers: turns the events of a run into metrics."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.core.candidate import RecordedRollout
from promptpo.core.config import Config
from promptpo.core.journal import Event
from promptpo.errors import UsageError
from promptpo.files import Json
from promptpo.llm.base import Completion
from promptpo.output.observer import HOOKS, Observer
from promptpo.output.recorded_result import RecordedScore
from promptpo.output.run_result import RunResult
from promptpo.rollouts.evaluation import EpisodeRecord
from promptpo.rollouts.packed import inflate
from promptpo.rollouts.results import record_of
from promptpo.run.origin import is_made_here
from promptpo.run.state import RunState, TuningBatch

if TYPE_CHECKING:
    from promptpo.spec import TaskSpec


class Tracker(Observer):
    """Turns the events of a run into metrics and episodes; subclasses send them to a destination."""

    _state: RunState | None = None

    def on_start(self, state: RunState, directory: Path, choice: str, spec: TaskSpec) -> None:
        """Begin to track a run; the existing journal of a resumed one is counted and not sent again."""
        self.begin(directory, parameters_of(state.config), state)

    def begin(self, directory: Path, parameters: Json, state: RunState | None = None) -> None:
        """Open the destination; `state` contains each event before `on_event` receives it.

        Raises:
            UsageError: It cannot be opened, or may be in a run that was not made here.
        """
        self._state = state
        if not is_made_here(directory) and Path.cwd().is_relative_to(directory.resolve()):
            raise UsageError(
                f"{directory} was not made here, so nothing is written into it; do this in another folder."
            )
        try:
            self.open(directory, parameters)
        except Exception as error:  # a foreign client may raise anything
            raise UsageError(f"{type(self).__name__} cannot be used: {error}") from error

    def on_event(self, event: Event) -> None:
        """Send the metrics and episodes of one event of the journal."""
        if self._state is None:
            return
        metrics = _metrics(event, self._state)
        if metrics:
            self.log(metrics, self._state.spent.steps, event.t)
        if type(self).episode is not Tracker.episode:
            for purpose, episode in _episodes(event):
                self.episode(purpose, episode, event.t)

    def on_finish(self, run: RunResult) -> None:
        """Send the result and close."""
        final = test_metrics(run.record.test)
        if final:
            self.log(final, self._state.spent.steps if self._state else 0, time.time())
        policy = run.policy_path  # never the target of a link in a stranger's run
        self.close(policy if policy.is_file() and not policy.is_symlink() else None)

    def open(self, directory: Path, parameters: Json) -> None:
        """Begin a run at the destination."""

    def log(self, metrics: Mapping[str, float], step: int, at: float) -> None:
        """Send metrics for one step, if the destination takes any; `at` is seconds since the epoch."""

    def episode(self, purpose: str, episode: EpisodeRecord, at: float | None) -> None:
        """Send one episode; dashboards of metrics have its means already.

        Args:
            purpose: Its purpose.
            episode: The episode, with 0 steps and a negative seed if these are not recorded.
            at: Time of recording, in seconds since the epoch; None if unknown.
        """

    def close(self, policy: Path | None) -> None:
        """End the run; `policy` is the exported file, if any."""


def parameters_of(config: Config) -> Json:
    """Return the settings of a run, as dashboards show them."""
    names = ("model", "recipe", "candidates", "episodes", "seed")
    parameters = {name: getattr(config, name) for name in names} | {"reveal": config.reveals}
    parameters |= {"env_id": config.task.label, "env_kwargs": json.dumps(dict(config.task.env_kwargs))}
    return parameters | {"rounds": config.budget.rounds, "max_steps": config.budget.steps}


class Several(Observer):
    """Notifies several observers; a tracker that fails is reported once and left out from then on.

    Args:
        display: Shows the run; its errors propagate.
        trackers: Observers whose errors must not end a run.
    """

    def __init__(self, display: Observer, trackers: Sequence[Observer]) -> None:
        self._display, self._trackers = display, list(trackers)
        for hook in HOOKS:
            setattr(self, hook, partial(self._tell, hook))

    def _tell(self, hook: str, *given: Any) -> None:
        """Notify all observers; a destination that cannot be opened is the user's error."""
        tell = partial(getattr(self._display, hook), *given)
        if hook != "on_finish":  # its sentence comes last
            tell()
        for tracker in list(self._trackers):
            try:
                getattr(tracker, hook)(*given)
            except Exception as error:
                if hook == "on_start":
                    raise
                self._trackers.remove(tracker)  # a foreign client must not end a paid run
                self._display.warn(
                    f"{type(tracker).__name__} stopped tracking: {type(error).__name__}: {error}"
                )
        if hook == "on_finish":
            tell()


def test_metrics(test: RecordedScore | None) -> dict[str, float]:
    """Return the metrics of a result's test, and of that on held-out variants; empty if nothing was tested."""
    parts = {"test": test, "held_out": test and test.held_out}
    return {
        f"{name}/{what}": value
        for name, part in parts.items()
        if part is not None
        for what, value in zip(
            ("mean_reward", "ci95_low", "ci95_high"), (part.mean_return, *part.ci95), strict=True
        )
        if value is not None
    }


def _metrics(event: Event, state: RunState) -> dict[str, float]:
    """Return the metrics that an event adds, once the state contains it."""
    if event.kind == "completion":
        spent = {"calls": state.ledger.calls, "tokens": state.spent.tokens, "cost_usd": state.spent.usd}
        return {
            f"llm/{name}": value
            for name, value in (spent | {"seconds": event.read(Completion).seconds}).items()
        }
    if event.kind == "tuning" and (best_return := event.read(TuningBatch).best_return) is not None:
        return {"tune/best_return": best_return}
    if event.kind not in ("evaluation", "validation"):
        return {}
    evaluation = event.read(RecordedRollout).evaluation
    if evaluation.outcome != "ok" or not evaluation.episodes:
        return {}
    length = evaluation.mean_steps
    if event.kind == "evaluation":
        return {"rollout/ep_rew_mean": evaluation.mean_return, "rollout/ep_len_mean": length}
    best = {"eval/best_mean_reward": state.best.evidence.mean_return} if state.best else {}
    return {"eval/mean_reward": evaluation.mean_return, "eval/mean_ep_length": length, **best}


def _episodes(event: Event) -> Iterator[tuple[str, EpisodeRecord]]:
    """Yield (purpose, episode) for every finished episode in an event."""
    purpose = "train" if event.kind == "evaluation" else event.kind
    if purpose in {"train", "validation", "test", "held_out", "reference"}:
        for episode in event.read(RecordedRollout).evaluation.episodes:
            yield purpose, episode
    elif event.kind == "tuning":
        for rollout in inflate(event.read(TuningBatch).rollouts):
            for tried in rollout.episodes:
                if tried.failure is None:
                    yield "tune", record_of(tried)
