"""Evaluation of a policy file in the sandbox, or of a trained agent."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from promptpo.core.control import run_async
from promptpo.envs.building import make_env
from promptpo.envs.family import longest
from promptpo.envs.objects import EnvLike, WrapperLike, task_of
from promptpo.envs.task import Task, Variant
from promptpo.errors import UsageError
from promptpo.files import Json, StrPath, read_text
from promptpo.output.exporting import policy_part
from promptpo.output.policy_file import NAMELESS, file_and_task, with_changes
from promptpo.output.report.result import summarize_evaluation
from promptpo.output.report.scores import drop_dependent_intervals
from promptpo.output.sentences import sentence
from promptpo.program import Program
from promptpo.program.reward_program import read_reward
from promptpo.rollouts import Job, Settings, evaluation_of, roll_out
from promptpo.rollouts.agents import play_agent
from promptpo.rollouts.evaluation import Evaluation
from promptpo.rollouts.local import LocalExecutor
from promptpo.run.episodes import UNBOUNDED_HORIZON
from promptpo.spec.own_source import describe_series
from promptpo_sandbox import Limits, Trial


@dataclass(frozen=True, repr=False)
class EvaluatedPolicy:
    """Episodes of a policy in an environment.

    Attributes:
        task: The task that was played.
        evaluation: Outcome, returns, steps, error.
        seconds: Wall time.
        video: The file that was written, if any.
        same: Whether repeating the recorded actions gave the recorded returns; if not, the video shows other episodes.
    """

    task: Task
    evaluation: Evaluation
    seconds: float
    video: Path | None = None
    same: bool = True

    @property
    def env_id(self) -> str:
        """ID of the environment."""
        return self.task.env_id

    @property
    def mean_return(self) -> float:
        """Mean return over the episodes; NaN if none finished."""
        return self.evaluation.mean_return

    @property
    def returns(self) -> tuple[float, ...]:
        """Return of each episode, in the order of their seeds."""
        return tuple(self.evaluation.returns)

    @property
    def ci95(self) -> tuple[float, float]:
        """95 % bootstrap interval of the mean return; NaN if nothing finished, or if episodes are not independent."""
        low, high = self.as_json()["ci95"]
        return (math.nan, math.nan) if low is None else (low, high)

    @functools.cached_property
    def _series(self) -> Json:
        return describe_series(self.task)

    def __repr__(self) -> str:
        if not self.returns:
            return f"<{self.task.label}: {self.evaluation.outcome}: {self.evaluation.error}>"
        summary = f"{self.task.label}: mean return {sentence('score', self.as_json())}"
        return f"<{'; '.join(filter(None, [summary, self.evaluation.error]))}>"

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``promptpo evaluate --json`` prints; ``error`` also if there is no finite mean return."""
        evaluation, task = self.evaluation, self.task
        found = {
            "env": self.env_id,
            **(summarize_evaluation(evaluation, task, horizon=task.max_episode_steps or 0) or {}),
            "steps": evaluation.steps,
            "seconds": round(self.seconds, 3),
            "error": evaluation.error
            or (None if math.isfinite(self.mean_return) else "NaN or infinite rewards: no mean return"),
            **self._series,
            **({"video": str(self.video)} if self.video else {}),
        }
        return drop_dependent_intervals(found)


def evaluate(
    policy: StrPath,
    env_id: EnvLike | Task | None = None,
    *,
    episodes: int = 10,
    seed: int = 0,
    env_kwargs: Json | None = None,
    wrappers: Sequence[WrapperLike] = (),
    variants: Sequence[Json | Variant] = (),
    reward: StrPath | None = None,
    max_episode_steps: int | None = None,
    jobs: int = 1,
    allow_weaker_sandbox: bool = False,
    trust: bool = False,
) -> EvaluatedPolicy:
    """Roll out a policy file in the sandbox, or play a trained agent.

    Args:
        policy: An exported file, a bare policy module, or a run directory, which stands for its best policy; or a zip
            file of stable-baselines3, which is unpickled outside the sandbox, so it must be one that you trust.
        env_id: The environment, in any form that `optimize` takes; a whole task, which excludes the following
            arguments about it; or None for that of the run or the exported file, parts of which the following
            arguments change.
        episodes: Number of episodes.
        seed: Seed of the first episode; later ones count up.
        env_kwargs: Arguments of the environment.
        wrappers: As for `optimize`.
        variants: As for `optimize`; episodes take turns.
        reward: As for `optimize`; if `env_id` is None, None takes that of the run or the exported file.
        max_episode_steps: Maximum episode length; None keeps the environment's.
        jobs: Rollout processes; 0 means one per core.
        allow_weaker_sandbox: Accept a machine that lacks sandbox layers.
        trust: Build the environment that the run or the file names, whatever it is. Otherwise only Gymnasium's own are
            built, and those of runs that were made here.

    Raises:
        UsageError: The file cannot be read, or the environment that it names is not trusted.
        EnvironmentFaultError: The environment failed.
    """
    if episodes < 1 or seed < 0:
        raise UsageError(f"episodes must be at least 1 and the seed 0 or more, not {episodes} and {seed}.")
    made = partial(
        task_of,
        env_kwargs=env_kwargs,
        max_episode_steps=max_episode_steps,
        wrappers=wrappers,
        variants=variants,
    )
    named = env_id.validate() if isinstance(env_id, Task) else None if env_id is None else made(env_id)
    path, task = file_and_task(policy, named, trust=trust)
    task = with_changes(task, made(NAMELESS)) if named is None else task
    task = replace(task, reward=read_reward(reward)) if reward is not None else task
    seeds, started = range(seed, seed + episodes), time.monotonic()
    if path.suffix == ".zip":
        evaluation = play_agent(path, task, seeds)
    else:
        evaluation = _evaluate_confined(
            policy_part(read_text(path)), Settings(task, Limits(), allow_weaker_sandbox), seeds, jobs
        )
    return EvaluatedPolicy(task, evaluation, time.monotonic() - started)


def _evaluate_confined(source: str, settings: Settings, seeds: Sequence[int], jobs: int) -> Evaluation:
    """Play the episodes of a policy in the sandbox."""
    env = make_env(settings.task)  # a wrong ID is reported before any process starts
    horizon = longest(env) or settings.task.max_episode_steps or UNBOUNDED_HORIZON
    env.close()
    params = Program.from_source(source).values
    trials = tuple(Trial(seed, params, horizon) for seed in seeds)

    async def work() -> Evaluation:
        executor = LocalExecutor(settings, jobs)
        try:
            (rollout,) = await roll_out(executor, [Job(source, trials, apart=True)])
            return evaluation_of(rollout)
        finally:
            executor.close()

    return run_async(work)
