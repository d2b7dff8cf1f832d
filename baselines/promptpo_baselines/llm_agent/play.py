"""Episodes of the agent, several at once, so that their questions are sent together."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from promptpo.rollouts.evaluation import EpisodeRecord
from promptpo.rollouts.results import record_of
from promptpo_baselines.environments import make_playable
from promptpo_baselines.evaluation import Player, side_by_side
from promptpo_baselines.llm_agent.prompts import ShownStep, format_observation

if TYPE_CHECKING:
    from promptpo.envs.task import Task
    from promptpo.llm.base import Completion
    from promptpo_baselines.llm_agent.actions import Named, Numbers, ReadAction

COUNTS = ("calls", "repeated", "unreadable", "drawn", "scored", "clipped")
"""Counts of an episode: calls; steps whose question had been answered before in this run and was not sent again;
unreadable answers; actions drawn at random after the last attempt; actions chosen by their probabilities; actions with
numbers out of bounds."""


@dataclass(frozen=True, slots=True)
class AgentEpisode:
    """One finished episode.

    Attributes:
        record: Its record: seed, return, length and success.
        counts: The `COUNTS`, calls of unknown price ("unpriced"), and tokens.
        usd: Price of the calls, as far as it is known.
        seconds: Total time of the answers.
    """

    record: EpisodeRecord
    counts: dict[str, int]
    usd: float
    seconds: float


class AgentLane:
    """One environment and the episode that is being played in it.

    Args:
        task: The task to play.
        actions: The meaning of the agent's choices.
        run_seed: Seed of the run.
        taken: Environment steps of the run by purpose; those taken here count as "test".

    Attributes:
        player: Plays the episode.
        steps: The steps so far.
        space: Action space; actions drawn at random depend on the seeds of the episode and of the run.
        counts: See `AgentEpisode`.
    """

    def __init__(self, task: Task, actions: Named | Numbers, run_seed: int, taken: Counter[str]) -> None:
        self.player = Player(make_playable(task))
        self.space = copy.deepcopy(self.player.env.action_space)
        self._actions, self._run_seed, self._taken = actions, run_seed, taken

    def start(self, seed: int) -> None:
        """Start an episode."""
        self.player.start(seed)
        self.space.seed(int(np.random.default_rng([self._run_seed, 2, seed]).integers(2**31)))
        self.steps: list[ShownStep] = []
        self.counts: Counter[str] = Counter()
        self._usd = self._seconds = 0.0

    def pay(self, answer: Completion) -> None:
        """Record a call."""
        self.counts.update(calls=1, unpriced=int(answer.cost_usd is None), tokens=answer.usage.total)
        self._seconds += answer.seconds
        self._usd += answer.cost_usd or 0.0

    def step(self, choice: ReadAction) -> AgentEpisode | None:
        """Take a step; return the episode if that ended it."""
        self._taken["test"] += 1
        before = format_observation(self.player.observation)
        played = self.player.step(choice.action)
        self.steps.append(ShownStep(before, self._actions.format(choice), self.player.rewards[-1]))
        if played is None:
            return None
        return AgentEpisode(
            record_of(played), dict(self.counts), round(self._usd, 9), round(self._seconds, 3)
        )


def play(
    lanes: Sequence[AgentLane],
    act: Callable[[Sequence[AgentLane]], Sequence[ReadAction]],
    seeds: Sequence[int],
) -> Iterator[AgentEpisode]:
    """Play one episode for each seed, and yield them as they end; then close the lanes.

    Args:
        lanes: Lanes to play in parallel.
        act: Returns an action for each lane that is playing.
        seeds: Seeds of the episodes.
    """
    try:
        yield from side_by_side(lanes, seeds, act)
    finally:
        for lane in lanes:
            lane.player.env.close()
