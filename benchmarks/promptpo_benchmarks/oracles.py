"""Oracles: the best known policies without learning, as an upper bound.

``python -m promptpo_benchmarks.oracles Meta-World/reach-v3 --out DIR`` plays an oracle on the test seeds and writes a
result like any other run. Oracles are Meta-World's own scripted policies and, on NoiseWorld, the optimal policy by
value iteration. An oracle bounds the score of its task: the return on NoiseWorld, success on Meta-World (where a good
controller can exceed the returns of scripted policies).
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import gymnasium
import numpy as np
import typer

from promptpo.cli.arguments import json_object
from promptpo.core.candidate import Seeds
from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.output.report import summarize_evaluation, write_result
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.spec.facts import SUCCESS_KEYS
from promptpo_baselines.result_parts import head, steps_of
from promptpo_benchmarks.measuring.commands import run_command

Act = Callable[[Any], Any]
"""Maps an observation to an action; created anew for every episode."""

NOISE_WORLD = "promptpo/NoiseWorld-"
META_WORLD = "Meta-World/"


def has_oracle(env_id: str) -> bool:
    """Whether there is an oracle for an environment."""
    return env_id.rpartition(":")[2].startswith((META_WORLD, NOISE_WORLD))


def play(task: Task, episodes: int) -> Evaluation:
    """Play a task's oracle on the test seeds.

    Args:
        task: The environment.
        episodes: Number of episodes.

    Raises:
        UsageError: The environment has no oracle.
    """
    if not has_oracle(task.env_id):
        raise UsageError(f"there is no oracle for {task.env_id}; Meta-World and NoiseWorld have one.")
    env = make_env(task)
    started = time.monotonic()
    try:
        records = tuple(_episode(env, seed) for seed in Seeds().test(episodes))
    finally:
        env.close()
    steps = sum(record.steps for record in records)
    return Evaluation("ok", records, steps, seconds=time.monotonic() - started)


def _episode(env: gymnasium.Env[Any, Any], seed: int) -> EpisodeRecord:
    observation, _ = env.reset(seed=seed)
    act = _optimal(env) if env.spec and env.spec.id.startswith(NOISE_WORLD) else _make_scripted_policy(env)
    rewards: list[float] = []
    success: bool | None = None
    terminated = truncated = False
    while not (terminated or truncated):
        observation, reward, terminated, truncated, info = env.step(act(observation))
        rewards.append(float(reward))
        reports = [bool(info[key]) for key in SUCCESS_KEYS if key in info]
        success = (success or any(reports)) if reports else success
    return EpisodeRecord(seed, math.fsum(rewards), len(rewards), success, terminated, truncated)


def _make_scripted_policy(env: gymnasium.Env[Any, Any]) -> Act:
    """Return Meta-World's policy for the task, with its actions clipped as Meta-World does."""
    from metaworld.policies import ENV_POLICY_MAP

    name = env.spec.id.removeprefix(META_WORLD) if env.spec else ""
    policy: Any = ENV_POLICY_MAP[name]
    act = policy().get_action
    low, high = env.action_space.low, env.action_space.high  # type: ignore[attr-defined]
    return lambda observation: np.clip(act(observation), low, high)


def _optimal(env: gymnasium.Env[Any, Any]) -> Act:
    """Return the optimal policy, which knows the state, milestones included."""
    from promptpo_benchmarks.environments.noise_world.optimum import number_of, solve_cached

    world: Any = env.unwrapped
    best = solve_cached(world.number)
    taken = iter(range(world.board.horizon))
    return lambda _: int(best.actions[next(taken), number_of(world.state, world.board.size)])


def main(
    env: Annotated[str, typer.Argument(help="The environment.")],
    out: Annotated[Path, typer.Option(help="Directory for result.json.")],
    test_episodes: Annotated[int, typer.Option(help="Episodes on test seeds.")] = 100,
    env_kwargs: Annotated[str, typer.Option(help="For gymnasium.make, as JSON.")] = "{}",
    max_episode_steps: Annotated[int | None, typer.Option(help="Horizon.")] = None,
) -> None:
    """Play an oracle on the test seeds."""
    task = Task(env, json_object(env_kwargs, "--env-kwargs"), max_episode_steps)
    evaluation = play(task, test_episodes)
    content = {
        **head("oracle", task, 0),
        "test": summarize_evaluation(evaluation),
        "steps": steps_of(test=evaluation.steps),
        "stop_reason": "nothing to learn",
        "wall_seconds": round(evaluation.seconds, 3),
    }
    out.mkdir(parents=True, exist_ok=True)
    content = write_result(out, content)
    print(json.dumps(content["test"]))


if __name__ == "__main__":
    sys.exit(run_command(lambda: typer.run(main)))
