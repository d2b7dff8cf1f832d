"""``result.json`` of a baseline, in the format of ``promptpo optimize``."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.envs.task import Task
from promptpo.files import read_json
from promptpo.output.report import RESULT, scored
from promptpo.rollouts.evaluation import Evaluation
from promptpo_baselines.checkpoints import Record
from promptpo_baselines.hyperparameters import Hyperparameters
from promptpo_baselines.result_parts import head, scores_of, steps_of
from promptpo_baselines.settings import TrainingSettings

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

    from promptpo_baselines.search import Searched

RECENT_EPISODES = 100
NO_MODEL = {"calls": 0, "input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0}
"""Nothing is asked of a language model, also where one is the network."""


def read_result(directory: Path) -> dict[str, Any] | None:
    """The result of a complete run; None where there is none."""
    try:
        found: dict[str, Any] = read_json(directory / RESULT)
    except (OSError, ValueError):
        return None
    return found


def curve_point(record: Record, evaluation: Evaluation) -> dict[str, Any]:
    """One point of the learning curve; ``wall_seconds`` counts training only.

    Args:
        record: Of the run so far.
        evaluation: On validation seeds.
    """
    recent = [return_ for _, return_, _ in record.episodes[-RECENT_EPISODES:]]
    return {
        "steps": record.steps,
        "wall_seconds": round(record.train_seconds, 3),
        **(scored(evaluation) or {}),
        "train_mean_return": statistics.fmean(recent) if recent else None,
        "train_episodes": len(record.episodes),
    }


def trained_result(
    settings: TrainingSettings,
    row: Hyperparameters,
    record: Record,
    *,
    tests: tuple[Evaluation, Evaluation, Evaluation | None],
    model: BaseAlgorithm,
    searched: Searched | None,
) -> dict[str, Any]:
    """The result of a training run; the tests are the best agent's, the final one's, and the best's on held-out variants."""
    best_test, final_test, held_out = tests
    best, final = record.best or {}, record.curve[-1]
    played = {id(test): test for test in tests if test is not None}.values()
    test_seconds = sum(test.seconds for test in played)
    seconds = max(record.train_seconds, 1e-9)
    return {
        **head(
            settings.algorithm if settings.language is None else "llm-policy", settings.task, settings.seed
        ),
        "algorithm": settings.algorithm,
        "reported": "the best agent on validation seeds",
        "hyperparameters": row.as_json(),
        "search": searched and dict(searched.told),
        "n_envs": row.n_envs,
        "device": str(model.device),
        "threads": settings.threads,
        "network": _network(settings, model),
        "best": {"steps": best.get("steps")},
        "validation": _validation(best),
        "test": scores_of(settings.task, best_test, held_out),
        "final": {
            "steps": final["steps"],
            "validation": _validation(final),
            "test": scores_of(settings.task, final_test),
        },
        "steps": steps_of(
            train=record.steps,
            validation=record.validation_steps,
            test=sum(test.steps for test in played),
            tune=searched.steps if searched else 0,
        ),
        "llm": NO_MODEL,
        "curve": [{k: v for k, v in point.items() if k != "returns"} for point in record.curve],
        "train_episodes": len(record.episodes),
        "train_seconds": round(record.train_seconds, 3),
        "steps_per_second": round(record.steps / seconds, 1),
        "stop_reason": "step budget spent",
        "wall_seconds": round(record.train_seconds + record.evaluation_seconds + test_seconds, 3),
    }


def fixed_result(
    method: str,
    task: Task,
    seed: int,
    *,
    validation: Evaluation,
    test: Evaluation,
    held_out: Evaluation | None,
) -> dict[str, Any]:
    """The result of a method that does not learn."""
    return {
        **head(method, task, seed),
        "best": {"steps": 0},
        "validation": scores_of(task, validation),
        "test": scores_of(task, test, held_out),
        "steps": steps_of(validation=validation.steps, test=test.steps + (held_out.steps if held_out else 0)),
        "llm": NO_MODEL,
        "curve": [{"steps": 0, "wall_seconds": 0.0, **(scored(validation) or {})}],
        "stop_reason": "nothing to learn",
        "wall_seconds": round(validation.seconds + test.seconds + (held_out.seconds if held_out else 0.0), 3),
    }


def _validation(point: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("outcome", "mean_return", "ci95", "episodes", "success_rate", "returns")
    return {key: point[key] for key in keys if key in point}


def _network(settings: TrainingSettings, model: BaseAlgorithm) -> dict[str, Any]:
    parameters = sum(p.numel() for p in model.policy.parameters() if p.requires_grad)
    network: dict[str, Any] = {"policy": type(model.policy).__name__, "trainable_parameters": parameters}
    return network if settings.language is None else {**network, "language": dict(settings.language)}
