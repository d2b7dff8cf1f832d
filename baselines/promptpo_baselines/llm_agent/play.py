"""Episodes of the agent, several at once, so that their questions go out together."""

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
"""Of an episode: answers that were asked for; steps whose question had been answered before in this run, which were not
asked again; answers that could not be read; actions that were drawn at random after as many of them as there are tries;
actions chosen by their probabilities; actions with numbers out of bounds."""


@dataclass(frozen=True, slots=True)
class AgentEpisode:
    """One finished episode.

    Attributes:
        record: Its seed, return and end.
        counts: How often there was what `COUNTS` names, calls whose price is not known ("unpriced"), and tokens.
        usd: Price of the calls, where it is known.
        seconds: That the answers took, one after the other.
    """

    record: EpisodeRecord
    counts: dict[str, int]
    usd: float
    seconds: float


class AgentLane:
    """One environment and the episode that it plays.

    Args:
        task: What is played.
        actions: What the agent's choices mean.
        run_seed: Of the run.
        taken: Environment steps of the run, which are counted there under "test".

    Attributes:
        player: Plays the episode.
        steps: What happened so far.
        space: Of the actions; those that are drawn at random depend on the episode's seed and the run's.
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
        """Count a call."""
        self.counts.update(calls=1, unpriced=int(answer.cost_usd is None), tokens=answer.usage.total)
        self._seconds += answer.seconds
        self._usd += answer.cost_usd or 0.0

    def step(self, choice: ReadAction) -> AgentEpisode | None:
        """Take a step; the episode when that ended it."""
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
    """Play one episode for each seed, and yield them as they end; the lanes are closed after that.

    Args:
        lanes: As many as are played side by side.
        act: An action for each that is playing.
        seeds: Of the episodes.
    """
    try:
        yield from side_by_side(lanes, seeds, act)
    finally:
        for lane in lanes:
            lane.player.env.close()
