"""Agents that do not learn: random, zero, and oracles. They write a result like any other run.

``python -m benchmarks.agents oracle Meta-World/reach-v3 --out DIR`` plays an agent on the test seeds.
Oracles are Meta-World's own scripted policies and, on NoiseWorld, the optimal policy by value
iteration. An oracle bounds what counts on its task: the return on NoiseWorld, success on Meta-World
(where scripted policies succeed with returns that a good controller can pass).
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import gymnasium
import numpy as np
import typer
from gymnasium import spaces

from promptpo.errors import UsageError
from promptpo.records import EpisodeRecord, Evaluation, Seeds, Task
from promptpo.report import scored, versions, write_result
from promptpo.spec import make_env
from promptpo.spec.facts import SUCCESS_KEYS

Act = Callable[[Any], Any]
"""From an observation to an action; made anew for every episode."""

NOISE_WORLD = "promptpo/NoiseWorld-"
META_WORLD = "Meta-World/"


def random_agent(env: gymnasium.Env[Any, Any], seed: int) -> Act:
    """Uniform over the action space."""
    env.action_space.seed(seed)
    return lambda _: env.action_space.sample()


def zero_agent(env: gymnasium.Env[Any, Any], seed: int) -> Act:
    """The zero action, clipped into the action space; the first one where actions are numbered."""
    del seed
    action = _zero(env.action_space)
    return lambda _: action


def oracle_agent(env: gymnasium.Env[Any, Any], seed: int) -> Act:
    """The best policy that is known without learning.

    Raises:
        UsageError: There is none for this environment.
    """
    del seed
    name = env.spec.id if env.spec else ""
    if name.startswith(META_WORLD):
        return _scripted(name.removeprefix(META_WORLD), env)
    if name.startswith(NOISE_WORLD):
        return _optimal(env)
    raise UsageError(f"there is no oracle for {name}; Meta-World and NoiseWorld have one.")


AGENTS: Mapping[str, Callable[[gymnasium.Env[Any, Any], int], Act]] = {
    "random": random_agent,
    "zero": zero_agent,
    "oracle": oracle_agent,
}


def has_oracle(env_id: str) -> bool:
    """Whether `oracle_agent` knows the environment."""
    name = env_id.rpartition(":")[2]
    return name.startswith((META_WORLD, NOISE_WORLD))


def play(agent: str, task: Task, episodes: int) -> Evaluation:
    """Play an agent on the test seeds.

    Args:
        agent: One of `AGENTS`.
        task: The environment.
        episodes: How many.

    Raises:
        UsageError: There is no such agent for this environment.
    """
    env = make_env(task)
    started = time.monotonic()
    try:
        records = tuple(_episode(env, AGENTS[agent], seed) for seed in Seeds().test(episodes))
    finally:
        env.close()
    steps = sum(record.steps for record in records)
    return Evaluation("ok", records, steps, seconds=time.monotonic() - started)


def _episode(env: gymnasium.Env[Any, Any], agent: Callable[..., Act], seed: int) -> EpisodeRecord:
    observation, _ = env.reset(seed=seed)
    act = agent(env, seed)
    rewards: list[float] = []
    success: bool | None = None
    terminated = truncated = False
    while not (terminated or truncated):
        observation, reward, terminated, truncated, info = env.step(act(observation))
        rewards.append(float(reward))
        said = [bool(info[key]) for key in SUCCESS_KEYS if key in info]
        success = (success or any(said)) if said else success
    return EpisodeRecord(seed, math.fsum(rewards), len(rewards), success, terminated, truncated)


def _zero(space: spaces.Space[Any]) -> Any:
    if isinstance(space, spaces.Box):
        return np.clip(np.zeros(space.shape, space.dtype), space.low, space.high).astype(space.dtype)
    if isinstance(space, spaces.Discrete):
        return int(space.start)
    if isinstance(space, spaces.MultiDiscrete):
        return np.zeros(space.shape, space.dtype) + space.start
    raise UsageError(f"there is no zero action in {space}.")


def _scripted(name: str, env: gymnasium.Env[Any, Any]) -> Act:
    from metaworld.policies import ENV_POLICY_MAP

    policies: Mapping[str, Any] = ENV_POLICY_MAP
    policy = policies[name]()
    low, high = env.action_space.low, env.action_space.high  # type: ignore[attr-defined]
    return lambda observation: np.clip(policy.get_action(observation), low, high)


def _optimal(env: gymnasium.Env[Any, Any]) -> Act:
    """The optimal policy sees what it needs to know: the state, milestones included."""
    from benchmarks.environments.noise_world import NoiseWorldEnv
    from benchmarks.environments.noise_world.optimum import cached_solution, number_of

    world = env.unwrapped
    assert isinstance(world, NoiseWorldEnv)  # noqa: S101 - for the type checker; the id has said so
    best = cached_solution(world.number)
    taken = iter(range(world.board.horizon))
    return lambda _: int(best.actions[next(taken), number_of(world.state, world.board.size)])


def result_of(agent: str, task: Task, evaluation: Evaluation) -> dict[str, Any]:
    """The content of ``result.json``, in the form that every run has."""
    return {
        "format": 1,
        "method": agent,
        "env_id": task.env_id,
        "env_kwargs": dict(task.env_kwargs),
        "model": None,
        "language_model": False,
        "seed": 0,
        "test": scored(evaluation),
        "steps": {"test": evaluation.steps, "total": evaluation.steps},
        "stop_reason": "played",
        "wall_seconds": round(evaluation.seconds, 3),
        "versions": versions(),
        "command": " ".join(sys.argv),
    }


def main(
    agent: Annotated[str, typer.Argument(help="random, zero or oracle.")],
    env: Annotated[str, typer.Argument(help="The environment.")],
    out: Annotated[Path, typer.Option(help="Directory for result.json.")],
    test_episodes: Annotated[int, typer.Option(help="Episodes on test seeds.")] = 100,
    env_kwargs: Annotated[str, typer.Option(help="For gymnasium.make, as JSON.")] = "{}",
    max_episode_steps: Annotated[int | None, typer.Option(help="Horizon.")] = None,
) -> None:
    """Play an agent that does not learn on the test seeds."""
    if agent not in AGENTS:
        raise UsageError(f"there is no agent {agent!r}; there are {', '.join(AGENTS)}.")
    task = Task(env, json.loads(env_kwargs), max_episode_steps)
    out.mkdir(parents=True, exist_ok=True)
    content = result_of(agent, task, play(agent, task, test_episodes))
    write_result(out, content)
    print(json.dumps(content["test"]))


if __name__ == "__main__":
    typer.run(main)
