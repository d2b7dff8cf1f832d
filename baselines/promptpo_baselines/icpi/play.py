"""Acting in an environment: training, one episode after the other, and test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from promptpo.run.records import Seeds
from promptpo_baselines.icpi.codecs import flatten
from promptpo_baselines.icpi.values import Decision, EpisodeLog, Transition

if TYPE_CHECKING:
    import gymnasium

    from promptpo_baselines.icpi.agents import Agent
    from promptpo_baselines.icpi.setting import Setting

LAST_QUARTER = 0.75


def train(
    setting: Setting,
    agent: Agent,
    steps: int,
    seed: int,
    on_episode: Callable[[EpisodeLog], None] = lambda _: None,
) -> list[EpisodeLog]:
    """Act and learn for a number of environment steps.

    An episode that the last step cuts off is not logged, and not learned from.

    Args:
        setting: The environment.
        agent: Acts and learns.
        steps: Environment steps in total.
        seed: Of the run; decides the episodes' seeds.
        on_episode: Told of each finished episode before the agent learns from it.

    Returns:
        The finished episodes.
    """
    logs: list[EpisodeLog] = []
    taken = 0
    env = setting.make_env()
    try:
        for n in count():
            (episode_seed,) = Seeds(seed).train(1, start=n)
            log, finished = _episode(
                setting, env, agent, episode_seed, taken, limit=steps - taken, learn=True
            )
            taken = log.end_step
            if not finished:
                return logs
            on_episode(log)
            agent.end_episode(log.transitions)
            logs.append(log)
            if taken >= steps:
                return logs
    finally:
        env.close()
    return logs


def test(setting: Setting, agent: Agent, seeds: Iterable[int]) -> Iterator[EpisodeLog]:
    """Act without learning, one episode per seed."""
    env = setting.make_env()
    try:
        for seed in seeds:
            yield _episode(setting, env, agent, seed, 0, limit=None, learn=False)[0]
    finally:
        env.close()


def last_quarter(logs: Sequence[EpisodeLog], steps: int) -> float | None:
    """Mean regret of the episodes that ended in the last quarter of the steps; None without any."""
    late = [log.regret for log in logs if log.end_step > LAST_QUARTER * steps and log.regret is not None]
    return sum(late) / len(late) if late else None


def _episode(
    setting: Setting,
    env: gymnasium.Env[Any, Any],
    agent: Agent,
    seed: int,
    taken: int,
    *,
    limit: int | None,
    learn: bool,
) -> tuple[EpisodeLog, bool]:
    """One episode, and whether it came to its end within `limit` steps."""
    first_action = int(getattr(env.action_space, "start", 0))
    observation, _ = env.reset(seed=seed)
    start = obs = flatten(observation)
    agent.begin_episode()
    steps: list[Transition] = []
    decisions: list[Decision] = []
    return_ = discounted = 0.0
    ended = False
    while not ended and (limit is None or len(steps) < limit):
        decision = agent.act(obs)
        observation, reward, terminal, truncated, _ = env.step(first_action + decision.action)
        after = flatten(observation)
        return_ += float(reward)
        discounted += setting.rules.gamma_eval ** len(steps) * float(reward)
        step = Transition(obs, decision.action, float(reward), bool(terminal), after, bool(truncated))
        steps.append(step)
        decisions.append(decision)
        if learn:
            agent.observe(step)
        obs = after
        ended = bool(terminal or truncated)
    log = EpisodeLog(
        seed, taken + len(steps), return_, discounted, setting.regret(start, discounted), steps, decisions
    )
    return log, ended
