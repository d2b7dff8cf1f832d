"""Episodes of the agent, several at once, so that their questions go out together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.envs.building import make_env
from promptpo.envs.rewarded import with_reward
from promptpo_baselines.environments import Blamed, with_end
from promptpo_baselines.llm_agent.agent import Acting
from promptpo_baselines.llm_agent.prompts import ShownStep, written

if TYPE_CHECKING:
    import gymnasium

    from promptpo.envs.task import Task
    from promptpo_baselines.llm_agent.actions import Named, Numbers, ReadAction
    from promptpo_baselines.llm_agent.agent import LanguageAgent

SUCCESS_KEYS = ("success", "is_success")


@dataclass(frozen=True, slots=True)
class AgentEpisode:
    """One finished episode; counts are those of `promptpo_baselines.llm_agent.agent.Acting`.

    Attributes:
        seed: What the environment was reset with.
        return_: Undiscounted return.
        steps: Environment steps.
        success: Whether ``info`` reported success at any step; None where it never says.
        terminated: The environment ended it.
        truncated: The time limit ended it.
    """

    seed: int
    return_: float
    steps: int
    success: bool | None
    terminated: bool
    truncated: bool
    calls: int
    repeated: int
    unreadable: int
    drawn: int
    scored: int
    clipped: int
    input_tokens: int
    output_tokens: int
    usd: float
    unpriced: int
    seconds: float


def make_playable(task: Task) -> gymnasium.Env[Any, Any]:
    """An environment whose episodes end, and which says in a sentence what it raises."""
    return with_reward(with_end(Blamed(make_env(task)), task), task.reward)


class _Lane:
    """One environment and the episode that it plays."""

    def __init__(self, task: Task, run_seed: int) -> None:
        self.env = make_playable(task)
        self._run_seed = run_seed

    def start(self, seed: int) -> None:
        observation, _ = self.env.reset(seed=seed)
        self.acting = Acting(seed, observation, np.random.default_rng([self._run_seed, 2, seed]))
        self._return, self._success = 0.0, None

    def step(self, actions: Named | Numbers, choice: ReadAction) -> AgentEpisode | None:
        """Take a step; the episode when that ended it."""
        acting = self.acting
        before = written(acting.observation)
        acting.observation, reward, terminated, truncated, info = self.env.step(choice.action)
        acting.steps.append(ShownStep(before, actions.written(choice), float(reward)))
        self._return += float(reward)
        for key in SUCCESS_KEYS:
            if key in info:
                self._success = bool(self._success) or bool(info[key])
        if not (terminated or truncated):
            return None
        return AgentEpisode(
            acting.seed, self._return, len(acting.steps), self._success, bool(terminated), bool(truncated),
            acting.calls, acting.repeated, acting.unreadable, acting.drawn, acting.scored, acting.clipped,
            acting.usage.input_tokens, acting.usage.output_tokens, round(acting.usd, 9), acting.unpriced,
            round(acting.seconds, 3),
        )  # fmt: skip

    _return: float
    _success: bool | None


def play(
    task: Task,
    agent: LanguageAgent,
    actions: Named | Numbers,
    seeds: Sequence[int],
    *,
    run_seed: int,
    at_once: int,
    on_step: Callable[[], None] = lambda: None,
) -> Iterator[AgentEpisode]:
    """Play one episode for each seed, and yield them as they end.

    Args:
        task: What is played.
        agent: Acts.
        actions: What the agent's choices mean.
        seeds: Of the episodes.
        run_seed: Of the run.
        at_once: How many are played side by side.
        on_step: Called for every environment step.
    """
    waiting = list(seeds)
    lanes = [_Lane(task, run_seed) for _ in range(min(at_once, len(waiting)))]
    try:
        playing = list(lanes)
        for lane in playing:
            lane.start(waiting.pop(0))
        while playing:
            choices = agent.act([lane.acting for lane in playing])
            still = []
            for lane, choice in zip(playing, choices, strict=True):
                on_step()
                episode = lane.step(actions, choice)
                if episode is not None:
                    yield episode
                    if not waiting:
                        continue
                    lane.start(waiting.pop(0))
                still.append(lane)
            playing = still
    finally:
        for lane in lanes:
            lane.env.close()
