"""The result of a run as numbers: ``result.json``."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.core.candidate import SEEDS_PER_PURPOSE, Seeds
from promptpo.core.returns import Evidence
from promptpo.envs.extras import find_versions
from promptpo.files import Json, read_json, write_atomically
from promptpo.output.report.scores import (
    by_variant,
    count_failures_as_worst,
    drop_dependent_intervals,
    finite,
    of_episodes,
)
from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.models import summarize_models
from promptpo.version import __version__

if TYPE_CHECKING:
    from promptpo.core.final_test import Outcome
    from promptpo.envs.task import Task
    from promptpo.run.state import RunState

REPORT = "report.html"

REFINED = "refined"
"""Key of the results of a network trained from the best program."""

RESULT = "result.json"
FORMAT = 1

PACKAGES = (
    "gymnasium", "numpy", "RestrictedPython", "mujoco", "metaworld", "minigrid", "gymnasium-robotics", "highway-env",
    "openai", "anthropic", "cma", "torch", "stable-baselines3", "sb3-contrib",
)  # fmt: skip


def versions() -> dict[str, str]:
    """Return the versions of software that affects a result, such as the physics engine."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "promptpo": __version__,
        **find_versions(PACKAGES),
    }


def summarize_evaluation(
    evaluation: Evaluation | None,
    task: Task | None = None,
    *,
    horizon: int = 0,
    seeds: Callable[[int], Sequence[int]] | None = None,
) -> dict[str, Any] | None:
    """Return an evaluation as the result file shows it: mean return, interval, episodes, success rate, returns.

    Args:
        evaluation: The episodes.
        task: The task, if the scores of its variants are to be included.
        horizon: Episodes truncated before it do not count as cut: the environment has a limit of its own.
        seeds: Returns the seeds of that many held-out episodes; failed episodes then count as the worst.
    """
    if evaluation is None:
        return None
    whole = len(evaluation.episodes) + evaluation.failed
    episodes = count_failures_as_worst(evaluation, seeds(whole)) if seeds else evaluation.episodes
    failed = {"episodes": whole, "failed_episodes": evaluation.failed, "failure": evaluation.error}
    return {
        "outcome": evaluation.outcome,
        **of_episodes(episodes),
        "cut": sum(episode.truncated and episode.steps >= horizon for episode in evaluation.episodes),
        **by_reward(evaluation),
        **(by_variant(task, episodes) if task else {}),
        **(failed if seeds and evaluation.failed else {}),
    }


def by_reward(evaluation: Evaluation) -> dict[str, Any]:
    """Return the environment's own mean return and the parts of a reward program; empty without one."""
    own = evaluation.env_mean_return
    if own is None:
        return {}
    parts = {name: finite(value) for name, value in evaluation.mean_parts.items()}
    return {"env_mean_return": finite(own), "reward_parts": parts}


def setting(task: Task) -> dict[str, Any]:
    """Describe the task in the result file."""
    content: dict[str, Any] = {"env_id": task.env_id, "env_kwargs": dict(task.env_kwargs)}
    if task.wrappers:
        content["wrappers"] = [asdict(wrapping) for wrapping in task.wrappers]
    if task.is_family:
        content["variants"] = [asdict(variant) for variant in task.family]
        content["held_out_variants"] = [asdict(variant) for variant in task.held_out]
    if task.reward is not None:
        content["reward"] = {"digest": task.reward.digest, "file": task.reward.file, "goal": task.reward.goal}
    return content


def summarize_selection(evidence: Evidence | None, task: Task, *, horizon: int) -> dict[str, Any] | None:
    """Return the episodes on which the best was chosen and the estimate of its mean return; None without episodes."""
    if evidence is None or not evidence.episodes:
        return None
    content = summarize_evaluation(Evaluation("ok", evidence.episodes, 0), task, horizon=horizon) or {}
    content["standard_error"] = finite(evidence.standard_error)
    if evidence.estimate is None:
        return content
    believed = {"mean_return": finite(evidence.mean_return), "ci95": list(map(finite, evidence.interval))}
    return content | believed


def result(state: RunState, outcome: Outcome, *, horizon: int, language_model: bool) -> dict[str, Any]:
    """Build ``result.json`` of a search; docs/reference/results.md documents all of it.

    Args:
        state: State of the run.
        outcome: How its search ended.
        horizon: Maximum episode length, in steps.
        language_model: Whether a language model was asked.
    """
    config, ledger, best, evidence = state.config, state.ledger, outcome.best, outcome.evidence
    task, seeds, trained = config.task, Seeds(config.seed), best.evaluation if best else None
    validation = evidence and Evidence(
        tuple(e for e in evidence.episodes if e.seed in seeds.validation(SEEDS_PER_PURPOSE))
    )
    test = summarize_evaluation(outcome.test, task, horizon=horizon, seeds=seeds.test)
    beyond = summarize_evaluation(outcome.held_out, task, horizon=horizon, seeds=seeds.variants)
    return {
        "format": FORMAT,
        "method": "promptpo" if language_model else "search",
        **setting(task),
        "language_model": language_model,
        "recipe": config.recipe,
        "seed": config.seed,
        "best": best
        and {
            "candidate": best.id,
            "round": best.candidate.round,
            "origin": best.candidate.origin or ("model" if language_model else "search"),
            "parents": list(best.candidate.parents),
            "tuned": {name: list(change) for name, change in best.candidate.tuned.items()},
            "repairs": best.candidate.repairs,
        },
        "train": summarize_evaluation(trained, horizon=horizon),
        "validation": summarize_selection(validation, task, horizon=horizon),
        "evidence": summarize_selection(evidence, task, horizon=horizon),
        "test": test and test | ({"held_out": beyond} if beyond else {}),
        "selection_gap": _gap(outcome.test, train=trained, validation=validation, evidence=evidence),
        "steps": {**ledger.steps, "total": sum(ledger.steps.values())},
        "searched_steps": ledger.searched_steps,
        "llm": {
            "calls": ledger.calls,
            **asdict(ledger.usage),
            "cost_usd": round(ledger.cost_usd, 6),
            "calls_of_unknown_price": ledger.unpriced_calls,
            "models": summarize_models(state),
        },
        "rounds": outcome.history.rounds,
        "candidates": len(outcome.history.attempts),
        "stop_reason": str(outcome.stop),
        "stop_kind": outcome.stop.kind,
        "wall_seconds": round(ledger.seconds, 3),
        "versions": versions(),
        "references": {
            name: summarize_evaluation(evaluation) for name, evaluation in outcome.references.items()
        },
        "changes": outcome.history.changes,
    }


def _gap(test: Evaluation | None, **selected: Evaluation | Evidence | None) -> dict[str, float | None] | None:
    """Return the winner's curse: by how much each score that selected the winner exceeds its test score."""
    if test is None or not test.episodes:
        return None
    return {
        f"{name}_minus_test": finite(evaluation.mean_return - test.mean_return)
        if evaluation is not None
        else None
        for name, evaluation in selected.items()
    }


def earlier_refinement(directory: Path, candidate: str | None) -> dict[str, Any]:
    """Read what the existing result says of a network trained from the same candidate."""
    try:
        found = read_json(directory / RESULT).get(REFINED)
    except (OSError, ValueError, AttributeError):
        return {}
    return {REFINED: found} if isinstance(found, dict) and found.get("candidate") == candidate else {}


def write_result(directory: Path, content: Json) -> dict[str, Any]:
    """Write ``result.json`` and return its content, without intervals if episodes are not independent."""
    content = drop_dependent_intervals(content)
    write_atomically(directory / RESULT, json.dumps(content, indent=2) + "\n")
    return content
