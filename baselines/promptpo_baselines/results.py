"""``result.json`` of a baseline, in the format of ``promptpo optimize``."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.envs.task import Task
from promptpo.files import read_json
from promptpo.output.report import RESULT, summarize_evaluation
from promptpo.rollouts.evaluation import Evaluation
from promptpo_baselines.result_parts import head, scores_of, steps_of
from promptpo_baselines.settings import TrainingSettings

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

    from promptpo_baselines.checkpoints import Record
    from promptpo_baselines.hyperparameters import Hyperparameters

RECENT_EPISODES = 100
NO_MODEL = {"calls": 0, "input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0}
"""No language model is queried, even if one is the network."""


def read_result(directory: Path) -> dict[str, Any] | None:
    """Read the result of a complete run; None if there is none."""
    try:
        found: dict[str, Any] = read_json(directory / RESULT)
    except (OSError, ValueError):
        return None
    return found


def curve_point(record: Record, evaluation: Evaluation) -> dict[str, Any]:
    """Return one point of the learning curve, with the time of training and evaluations so far.

    Args:
        record: Record of the run so far.
        evaluation: Evaluation on validation seeds.
    """
    recent = [return_ for _, return_, _ in record.episodes[-RECENT_EPISODES:]]
    return {
        "steps": record.steps,
        "validation_steps": record.validation_steps,
        "wall_seconds": round(record.train_seconds + record.evaluation_seconds + evaluation.seconds, 3),
        **(summarize_evaluation(evaluation) or {}),
        "train_mean_return": statistics.fmean(recent) if recent else None,
        "train_episodes": len(record.episodes),
    }


def build_training_result(
    settings: TrainingSettings,
    row: Hyperparameters,
    record: Record,
    *,
    tests: Sequence[Evaluation],
    final: Evaluation | None,
    model: BaseAlgorithm,
    searched: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the result of a training run.

    Args:
        settings: Settings of the run.
        row: Its hyperparameters.
        record: Record of the run.
        tests: Tests of the best agent, on held-out variants too if there are any.
        final: The test of the final agent; None leaves it out.
        model: The final agent.
        searched: Outcome of the search for hyperparameters, if any.
    """
    language, best, last = settings.language, record.best or {}, record.curve[-1]
    played = [*tests, *([final] if final is not None and final is not tests[0] else [])]
    after = {"steps": last["steps"], "validation": _validation(last)}
    spent = {"train": record.steps, "validation": record.validation_steps}
    return {
        **_score("llm-policy" if language else settings.algorithm, settings.task, settings.seed, tests),
        "algorithm": settings.algorithm,
        "reported": "the best agent on validation seeds, by success rate and then by mean return",
        "hyperparameters": row.as_json(),
        "search": searched,
        "n_envs": row.n_envs,
        "device": str(model.device),
        "threads": settings.threads,
        "network": {
            "policy": type(model.policy).__name__,
            "trainable_parameters": sum(p.numel() for p in model.policy.parameters() if p.requires_grad),
            **({"language": dict(language)} if language else {}),
        },
        "best": {"steps": best.get("steps")},
        "validation": _validation(best),
        **({"final": after | {"test": scores_of(settings.task, final)}} if final is not None else {}),
        **({"simulated_steps": settings.simulated_steps} if settings.simulator else {}),
        "steps": steps_of(**spent, test=_steps(played), tune=searched["steps"] if searched else 0),
        "curve": [{k: v for k, v in point.items() if k != "returns"} for point in record.curve],
        "train_episodes": len(record.episodes),
        "train_seconds": round(record.train_seconds, 3),
        "steps_per_second": round(record.steps / max(record.train_seconds, 1e-9), 1),
        "stop_reason": "step budget spent",
        "wall_seconds": round(record.train_seconds + record.evaluation_seconds + _seconds(played), 3),
    }


def build_untrained_result(
    method: str, task: Task, seed: int, validation: Evaluation, tests: Sequence[Evaluation]
) -> dict[str, Any]:
    """Return the result of a method that does not learn."""
    return {
        **_score(method, task, seed, tests),
        "best": {"steps": 0},
        "validation": scores_of(task, validation),
        "steps": steps_of(validation=validation.steps, test=_steps(tests)),
        "curve": [{"steps": 0, "wall_seconds": 0.0, **(summarize_evaluation(validation) or {})}],
        "stop_reason": "nothing to learn",
        "wall_seconds": round(_seconds([validation, *tests]), 3),
    }


def _score(method: str, task: Task, seed: int, tests: Sequence[Evaluation]) -> dict[str, Any]:
    return {**head(method, task, seed), "test": scores_of(task, *tests), "llm": NO_MODEL}


def _validation(point: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("outcome", "mean_return", "ci95", "episodes", "success_rate", "returns")
    return {key: point[key] for key in keys if key in point}


def _steps(played: Sequence[Evaluation]) -> int:
    return sum(evaluation.steps for evaluation in played)


def _seconds(played: Sequence[Evaluation]) -> float:
    return sum(evaluation.seconds for evaluation in played)
