"""The result of a run as numbers: ``result.json``."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.envs.extras import installed
from promptpo.files import Json, read_json, write_atomically
from promptpo.output.report.scores import by_variant, counted, finite, of_episodes
from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.evidence import Evidence
from promptpo.run.models import brought
from promptpo.run.records import Seeds

if TYPE_CHECKING:
    from promptpo.envs.task import Task
    from promptpo.run.state import RunState
    from promptpo.search.final_test import Outcome

REPORT = "report.html"

REFINED = "refined"
"""Key of what a network brought that was trained from the best program."""

RESULT = "result.json"
FORMAT = 1

PACKAGES = (
    "promptpo", "gymnasium", "numpy", "RestrictedPython", "mujoco", "metaworld", "minigrid", "gymnasium-robotics", "highway-env",
    "openai", "anthropic", "cma", "torch", "stable-baselines3", "sb3-contrib",
)  # fmt: skip


def versions() -> dict[str, str]:
    """Versions of what decides a result; returns depend on the physics engine's release, for one."""
    return {"python": platform.python_version(), "platform": platform.platform(), **installed(PACKAGES)}


def scored(
    evaluation: Evaluation | None,
    task: Task | None = None,
    *,
    horizon: int = 0,
    seeds: Callable[[int], Sequence[int]] | None = None,
) -> dict[str, Any] | None:
    """An evaluation as the result file shows it: mean return, interval, episodes, success rate, returns.

    Args:
        evaluation: The episodes.
        task: Of several variants, each of which is told.
        horizon: Episodes that the environment truncated before it do not count as cut: it has a limit of its own.
        seeds: Those of so many episodes, of the held-out test: failed episodes are `counted`.
    """
    if evaluation is None:
        return None
    whole = len(evaluation.episodes) + evaluation.failed
    episodes = counted(evaluation, seeds(whole)) if seeds else evaluation.episodes
    failed = {"episodes": whole, "failed_episodes": evaluation.failed, "failure": evaluation.error}
    return {
        "outcome": evaluation.outcome,
        **of_episodes(episodes),
        "cut": sum(one.truncated and one.steps >= horizon for one in evaluation.episodes),
        **by_reward(evaluation),
        **(by_variant(task, episodes) if task else {}),
        **(failed if seeds and evaluation.failed else {}),
    }


def by_reward(evaluation: Evaluation) -> dict[str, Any]:
    """What the result file says beside returns that are those of a reward program; nothing where they are not."""
    own = evaluation.env_mean_return
    if own is None:
        return {}
    parts = {name: finite(value) for name, value in evaluation.mean_parts.items()}
    return {"env_mean_return": finite(own), "reward_parts": parts}


def setting(task: Task) -> dict[str, Any]:
    """What was solved, as the result file names it."""
    content: dict[str, Any] = {"env_id": task.env_id, "env_kwargs": dict(task.env_kwargs)}
    if task.wrappers:
        content["wrappers"] = [asdict(wrapping) for wrapping in task.wrappers]
    if task.is_family:
        content["variants"] = [asdict(variant) for variant in task.family]
        content["held_out_variants"] = [asdict(variant) for variant in task.held_out]
    if task.reward is not None:
        content["reward"] = {"digest": task.reward.digest, "file": task.reward.file, "goal": task.reward.goal}
    return content


def judged_by(evidence: Evidence | None, task: Task, *, horizon: int) -> dict[str, Any] | None:
    """Episodes of the best that chose it, as the result file shows them; None where there are none."""
    if evidence is None or not evidence.episodes:
        return None
    content = scored(Evaluation("ok", evidence.episodes, 0), task, horizon=horizon) or {}
    return content | {"standard_error": finite(evidence.standard_error)}


def written_by(content: Json) -> str:
    """Who wrote the best policy of a result: who was asked, or its user."""
    best, model = content.get("best") or {}, str(content.get("model") or "")
    if best.get("origin") == "user":
        return "its user, tuned" if best.get("tuned") else "its user"
    return model


def result(state: RunState, outcome: Outcome, *, horizon: int, language_model: bool) -> dict[str, Any]:
    """What ``result.json`` says of a search; all of it is documented in docs/reference/results.md.

    Args:
        state: Of the run.
        outcome: How its search ended.
        horizon: Longest episode, in steps.
        language_model: Whether one was asked.
    """
    config, ledger, best, evidence = state.config, state.ledger, outcome.best, outcome.evidence
    task, seeds, trained = config.task, Seeds(config.seed), best.evaluation if best else None
    validation = evidence and Evidence(tuple(e for e in evidence.episodes if seeds.is_validation(e.seed)))
    test = scored(outcome.test, task, horizon=horizon, seeds=seeds.test)
    beyond = scored(outcome.held_out, task, horizon=horizon, seeds=seeds.held_out)
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
        "train": scored(trained, horizon=horizon),
        "validation": judged_by(validation, task, horizon=horizon),
        "evidence": judged_by(evidence, task, horizon=horizon),
        "test": test and test | ({"held_out": beyond} if beyond else {}),
        "selection_gap": _gap(outcome.test, train=trained, validation=validation, evidence=evidence),
        "steps": {**ledger.steps, "total": sum(ledger.steps.values())},
        "searched_steps": ledger.searched_steps,
        "llm": {
            "calls": ledger.calls,
            **asdict(ledger.usage),
            "cost_usd": round(ledger.cost_usd, 6),
            "calls_of_unknown_price": ledger.unpriced_calls,
            "models": brought(state),
        },
        "rounds": outcome.history.rounds,
        "candidates": len(outcome.history.attempts),
        "stop_reason": outcome.stop,
        "wall_seconds": round(ledger.seconds, 3),
        "versions": versions(),
        "references": {name: scored(one) for name, one in outcome.references.items()},
        "changes": outcome.history.changes,
    }


def _gap(test: Evaluation | None, **selected: Evaluation | Evidence | None) -> dict[str, float | None] | None:
    """Winner's curse: how much better the scores that selected the winner are than its test score, of each kind."""
    if test is None or not test.episodes:
        return None
    return {
        f"{name}_minus_test": finite(one.mean_return - test.mean_return) if one is not None else None
        for name, one in selected.items()
    }


def refined_before(directory: Path, candidate: str | None) -> dict[str, Any]:
    """What the result that is there already tells of a network that was trained from the same candidate."""
    try:
        found = read_json(directory / RESULT).get(REFINED)
    except (OSError, ValueError, AttributeError):
        return {}
    return {REFINED: found} if isinstance(found, dict) and found.get("candidate") == candidate else {}


def write_result(directory: Path, content: Json) -> None:
    """Write ``result.json``."""
    write_atomically(directory / RESULT, json.dumps(content, indent=2) + "\n")
