"""Acting in an environment: training, one episode after the other, and test."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from promptpo.core.candidate import Seeds
from promptpo_baselines.icpi.codecs import flatten
from promptpo_baselines.icpi.values import EpisodeLog, Transition

if TYPE_CHECKING:
    import gymnasium

    from promptpo_baselines.icpi.agents import Agent
    from promptpo_baselines.icpi.setting import Setting

LAST_QUARTER = 0.75


def train(setting: Setting, agent: Agent, steps: int, seed: int) -> Iterator[EpisodeLog]:
    """Act and learn for a number of environment steps; yield each finished episode before the agent learns from it.

    An episode that the last step cuts off is not finished, and not learned from.

    Args:
        setting: The environment.
        agent: Acts and learns.
        steps: Environment steps in total.
        seed: Seed of the run, which determines those of the episodes.
    """
    taken = 0
    with contextlib.closing(setting.make_env()) as env:
        for n in count():
            (episode_seed,) = Seeds(seed).train(1, start=n)
            log = _episode(setting, env, agent, episode_seed, taken, steps)
            if log is None:
                return
            taken = log.end_step
            yield log
            agent.end_episode(log.transitions)


def test(setting: Setting, agent: Agent, seeds: Iterable[int]) -> Iterator[EpisodeLog]:
    """Act without learning, one episode per seed."""
    with contextlib.closing(setting.make_env()) as env:
        for seed in seeds:
            log = _episode(setting, env, agent, seed, 0, None)
            if log is not None:
                yield log


def last_quarter(logs: Sequence[EpisodeLog], steps: int) -> float | None:
    """Return the mean regret of episodes that ended in the last quarter of the steps; None without any."""
    late = [log.regret for log in logs if log.end_step > LAST_QUARTER * steps and log.regret is not None]
    return sum(late) / len(late) if late else None


def _episode(
    setting: Setting, env: gymnasium.Env[Any, Any], agent: Agent, seed: int, taken: int, limit: int | None
) -> EpisodeLog | None:
    """Play one episode after `taken` steps; return None if `limit` cuts it off. Without a limit nothing is learned."""
    first_action = int(getattr(env.action_space, "start", 0))
    observation, _ = env.reset(seed=seed)
    start = obs = flatten(observation)
    agent.begin_episode()
    steps: list[Transition] = []
    while limit is None or taken + len(steps) < limit:
        action = agent.act(obs)
        observation, reward, terminal, truncated, _ = env.step(first_action + action)
        step = Transition(obs, action, float(reward), bool(terminal), flatten(observation))
        steps.append(step)
        if limit is not None:
            agent.observe(step)
        obs = step.next_obs
        if terminal or truncated:
            discounted = sum(setting.rules.gamma_eval**n * step.reward for n, step in enumerate(steps))
            return EpisodeLog(
                seed,
                taken + len(steps),
                sum(step.reward for step in steps),
                discounted,
                setting.regret(start, discounted),
                steps,
            )
    return None
