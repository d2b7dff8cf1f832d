"""Episodes of the agent, several at once, so that their questions go out together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.envs.building import make_env
from promptpo.envs.rewarded import with_reward
from promptpo_baselines.environments import Blamed, with_end
from promptpo_baselines.evaluation import Player
from promptpo_baselines.llm_agent.agent import COUNTS, Acting
from promptpo_baselines.llm_agent.prompts import ShownStep, written

if TYPE_CHECKING:
    import gymnasium

    from promptpo.envs.task import Task
    from promptpo_baselines.llm_agent.actions import Named, Numbers, ReadAction
    from promptpo_baselines.llm_agent.agent import LanguageAgent


@dataclass(frozen=True, slots=True)
class AgentEpisode:
    """One finished episode; counts, tokens and what they cost are those of `Acting`."""

    seed: int
    return_: float
    steps: int
    success: bool | None
    terminated: bool
    truncated: bool
    counts: dict[str, int]
    input_tokens: int
    output_tokens: int
    usd: float
    seconds: float


def make_playable(task: Task) -> gymnasium.Env[Any, Any]:
    """An environment whose episodes end, and which says in a sentence what it raises."""
    return with_reward(with_end(Blamed(make_env(task)), task), task.reward)


class _Lane:
    """One environment and the episode that it plays."""

    def __init__(self, task: Task, run_seed: int) -> None:
        self.player = Player(make_playable(task))
        self._run_seed = run_seed

    def start(self, seed: int) -> None:
        self.player.start(seed)
        rng = np.random.default_rng([self._run_seed, 2, seed])
        self.acting = Acting(seed, self.player.observation, rng)

    def step(self, actions: Named | Numbers, choice: ReadAction) -> AgentEpisode | None:
        """Take a step; the episode when that ended it."""
        acting = self.acting
        before = written(acting.observation)
        played = self.player.step(choice.action)
        acting.observation = self.player.observation
        acting.steps.append(ShownStep(before, actions.written(choice), self.player.rewards[-1]))
        if played is None:
            return None
        return AgentEpisode(
            acting.seed, played.return_, played.steps, played.success, played.terminated, played.truncated,
            {name: acting.counts[name] for name in (*COUNTS, "unpriced")},
            acting.usage.input_tokens, acting.usage.output_tokens, round(acting.usd, 9), round(acting.seconds, 3),
        )  # fmt: skip


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
            lane.player.env.close()
