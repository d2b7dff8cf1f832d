"""What every tracker does with the events of a run."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.output.observer import HOOKS, Observer
from promptpo.output.run_result import RunResult
from promptpo.run.config import Config
from promptpo.run.journal import JOURNAL, Event, read_events
from promptpo.run.state import RunState, evaluation_in

if TYPE_CHECKING:
    from promptpo.run.ledger import Ledger
    from promptpo.spec import TaskSpec


class Tracker(Observer):
    """Turns the events of a run into metrics; subclasses say where they go."""

    def __init__(self) -> None:
        self._state: RunState | None = None

    def started(self, config: Config, directory: Path, choice: str, spec: TaskSpec, ledger: Ledger) -> None:
        """The run begins, or goes on: what its journal holds already is counted and not sent again."""
        del choice, spec, ledger
        self.begin(directory, RunState.of(config, read_events(directory / JOURNAL)))

    def begin(self, directory: Path, state: RunState) -> None:
        """Open the destination; `state` is where the run is before the first `event`."""
        self._state = state
        self.open(directory, _parameters(state.config))

    def event(self, event: Event) -> None:
        """Send what one event of the journal says."""
        if self._state is None:
            return
        self._state.add(event)
        metrics = _metrics(event, self._state)
        if metrics:
            self.log(metrics, self._state.spent.steps, event.t)

    def finished(self, run: RunResult) -> None:
        """Send the result and close."""
        final = tested(run.data["test"])
        if final:
            self.log(final, self._state.spent.steps if self._state else 0, time.time())
        policy = run.policy_path  # never what a link in a stranger's run leads to
        self.close(policy if policy.is_file() and not policy.is_symlink() else None)

    def open(self, directory: Path, parameters: Mapping[str, Any]) -> None:
        """Begin a run at the destination."""
        raise NotImplementedError

    def log(self, metrics: Mapping[str, float], step: int, at: float) -> None:
        """Send metrics for one step; `at` is seconds since the epoch."""
        raise NotImplementedError

    def episode(self, purpose: str, return_: float, steps: int | None, seed: int | None) -> None:
        """Send one episode of a baseline; dashboards of metrics have its means already.

        Args:
            purpose: What it was for.
            return_: Of the episode.
            steps: Its length; None where it is not recorded.
            seed: How it was reset; None where it is not recorded.
        """

    def close(self, policy: Path | None) -> None:
        """End the run; `policy` is the exported file, where there is one."""
        raise NotImplementedError


class Several(Observer):
    """Tells several observers; trackers that fail are warned about once and left out from then on.

    Args:
        display: Shows the run; its errors are real ones.
        trackers: Whose errors must not end a run.
    """

    def __init__(self, display: Observer, trackers: Sequence[Observer]) -> None:
        self._display, self._trackers = display, list(trackers)
        for hook in HOOKS:
            setattr(self, hook, partial(self._tell, hook))

    def _tell(self, hook: str, *given: Any) -> None:
        """Pass something on; a destination that cannot be opened is an error of the user's."""
        tell = partial(getattr(self._display, hook), *given)
        if hook != "finished":  # its sentence comes last
            tell()
        for one in list(self._trackers):
            try:
                getattr(one, hook)(*given)
            except Exception as error:
                if hook == "started":
                    raise
                self._trackers.remove(one)  # a foreign client must not end a paid run
                self._display.warn(f"{type(one).__name__} stopped tracking: {type(error).__name__}: {error}")
        if hook == "finished":
            tell()


def tested(test: Mapping[str, Any] | None) -> dict[str, float]:
    """The metrics of a result's test, and of that on held-out variants; empty where nothing was tested."""
    final: dict[str, float] = {}
    for name, part in (("test", test or {}), ("held_out", (test or {}).get("held_out") or {})):
        if part.get("mean_return") is not None:
            low, high = part["ci95"]
            final |= {
                f"{name}/mean_reward": part["mean_return"],
                f"{name}/ci95_low": low,
                f"{name}/ci95_high": high,
            }
    return final


def _metrics(event: Event, state: RunState) -> dict[str, float]:
    """What one event adds, once the state holds it."""
    if event.kind == "completion":
        return {
            "llm/calls": state.ledger.calls,
            "llm/tokens": state.spent.tokens,
            "llm/cost_usd": state.spent.usd,
            "llm/seconds": event.data["seconds"],
        }
    if event.kind in ("evaluation", "validation"):
        evaluation = evaluation_in(event)
        if evaluation.outcome != "ok" or not evaluation.episodes:
            return {}
        length = sum(episode.steps for episode in evaluation.episodes) / len(evaluation.episodes)
        if event.kind == "evaluation":
            return {"rollout/ep_rew_mean": evaluation.mean_return, "rollout/ep_len_mean": length}
        metrics = {"eval/mean_reward": evaluation.mean_return, "eval/mean_ep_length": length}
        if state.best is not None:
            metrics["eval/best_mean_reward"] = state.best.evidence.mean_return
        return metrics
    if event.kind == "tuning" and event.data["best_return"] is not None:
        return {"tune/best_return": event.data["best_return"]}
    return {}


def _parameters(config: Config) -> dict[str, Any]:
    """The settings that a dashboard compares runs by."""
    return {
        "env_id": config.task.env_id,
        "env_kwargs": json.dumps(dict(config.task.env_kwargs)),
        "model": config.model,
        "recipe": config.recipe,
        "candidates": config.candidates,
        "rounds": config.budget.rounds,
        "episodes": config.episodes,
        "seed": config.seed,
        "reveal": config.reveal,
        "max_steps": config.budget.steps,
    }
