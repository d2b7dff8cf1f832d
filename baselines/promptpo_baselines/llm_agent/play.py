"""Episodes of the agent, several at once, so that their questions go out together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from promptpo_baselines.environments import make_playable
from promptpo_baselines.evaluation import Player, side_by_side
from promptpo_baselines.llm_agent.agent import COUNTS, Acting
from promptpo_baselines.llm_agent.prompts import ShownStep, written

if TYPE_CHECKING:
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


class _Lane:
    """One environment and the episode that it plays."""

    def __init__(
        self, task: Task, actions: Named | Numbers, run_seed: int, on_step: Callable[[], None]
    ) -> None:
        self.player = Player(make_playable(task))
        self._actions, self._run_seed, self._on_step = actions, run_seed, on_step

    def start(self, seed: int) -> None:
        self.player.start(seed)
        rng = np.random.default_rng([self._run_seed, 2, seed])
        self.acting = Acting(seed, self.player.observation, rng)

    def step(self, choice: ReadAction) -> AgentEpisode | None:
        """Take a step; the episode when that ended it."""
        self._on_step()
        acting = self.acting
        before = written(acting.observation)
        played = self.player.step(choice.action)
        acting.observation = self.player.observation
        acting.steps.append(ShownStep(before, self._actions.written(choice), self.player.rewards[-1]))
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
    lanes = [_Lane(task, actions, run_seed, on_step) for _ in range(min(at_once, len(seeds)))]
    try:
        yield from side_by_side(lanes, seeds, lambda playing: agent.act([lane.acting for lane in playing]))
    finally:
        for lane in lanes:
            lane.player.env.close()
