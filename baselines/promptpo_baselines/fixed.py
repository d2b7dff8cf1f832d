"""The two baselines that do not learn: uniformly random actions, and the zero action."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from promptpo.core.candidate import Seeds
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.files import FOLDER_MODE, create_directory
from promptpo.output.report import write_result
from promptpo.output.report.result import setting
from promptpo.run.origin import save_own
from promptpo_baselines.agents import Actor, RandomAgent, ZeroAgent
from promptpo_baselines.environments import make_playable
from promptpo_baselines.evaluation import Evaluator
from promptpo_baselines.flags import ScoringFlags
from promptpo_baselines.results import build_untrained_result, read_result


def run_fixed(
    method: str,
    task: Task,
    directory: Path,
    scoring: ScoringFlags,
    *,
    resume: bool,
) -> dict[str, Any]:
    """Score "random" or "zero" and write ``result.json``.

    Raises:
        UsageError: The directory already holds a result, and `resume` is false.
    """
    done = read_result(directory)
    if done is not None:
        if not resume:
            raise UsageError(
                f"{directory} already holds a run; continue it with --resume, or choose another --out."
            )
        return done
    env = make_playable(task)  # a wrong ID is reported before anything is created
    create_directory(directory, FOLDER_MODE)
    begun = {"method": method, "seed": scoring.seed, **setting(task)}
    save_own(json.dumps(begun, indent=2) + "\n", directory)  # the run is the user's own
    actor: Actor = (
        ZeroAgent(env.action_space) if method == "zero" else RandomAgent(env.action_space, scoring.seed)
    )
    evaluator, seeds = Evaluator(task), Seeds(scoring.seed)
    try:
        validation = evaluator.evaluate(actor, seeds.validation(scoring.validation_episodes))
        tests = [evaluator.evaluate(actor, seeds.test(scoring.test_episodes))]
        if task.held_out:
            tests.append(evaluator.evaluate(actor, seeds.variants(scoring.test_episodes)))
    finally:
        evaluator.close()
        env.close()
    return write_result(directory, build_untrained_result(method, task, scoring.seed, validation, tests))
