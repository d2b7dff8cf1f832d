"""Evaluation of an agent on given seeds: several environments in parallel, with one batch of actions for all."""

from __future__ import annotations

import copy
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gymnasium import spaces

from promptpo.envs.task import Task
from promptpo.rollouts import evaluation_of
from promptpo.rollouts.evaluation import Evaluation
from promptpo_baselines.actions import from_zero
from promptpo_baselines.agents import Actor, TrainedAgent
from promptpo_baselines.environments import AnyEnv, flatten, make_playable
from promptpo_sandbox import Episode, Rollout, Trajectory

MOST_ENVIRONMENTS = 16


@dataclass
class Player:
    """One environment and the episode that is being played in it.

    Attributes:
        env: The environment.
        record: Whether to record trajectories of episodes.
    """

    env: AnyEnv
    record: bool = False
    seed: int = 0
    observation: Any = None
    rewards: list[float] = field(default_factory=list)
    success: bool | None = None

    def start(self, seed: int) -> None:
        """Start an episode."""
        self.seed, self.success = seed, None
        self.observation, _ = self.env.reset(seed=seed)
        self._seen, self._done, self.rewards = [copy.deepcopy(self.observation)], [], []

    def step(self, action: Any) -> Episode | None:
        """Take a step; return the episode if that ended it."""
        action = int(action) if isinstance(self.env.action_space, spaces.Discrete) else action
        self.observation, reward, terminated, truncated, info = self.env.step(action)
        self.rewards.append(float(reward))
        if self.record:
            self._seen.append(copy.deepcopy(self.observation))
            self._done.append(action)
        for key in ("success", "is_success"):
            if key in info:
                self.success = bool(self.success) or bool(info[key])
        if not (terminated or truncated):
            return None
        return Episode(
            seed=self.seed,
            return_=sum(self.rewards),
            steps=len(self.rewards),
            terminated=bool(terminated),
            truncated=bool(truncated),
            success=self.success,
            clipped=0,
            policy_seconds=0.0,
            trajectory=Trajectory(self._seen, self._done, self.rewards) if self.record else None,
            env_return=info.get("env_return") if "reward_parts" in info else None,
            parts=info.get("reward_parts", {}),
        )

    _seen: list[Any] = field(default_factory=list)
    _done: list[Any] = field(default_factory=list)


@dataclass
class Evaluator:
    """Plays episodes of a task; keeps its environments between evaluations.

    Attributes:
        task: The task to play.
    """

    task: Task
    _players: list[Player] = field(default_factory=list)

    def evaluate(
        self, actor: Actor, seeds: Sequence[int], watch: Callable[[Episode], bool] | None = None
    ) -> Evaluation:
        """Play one episode for each seed.

        An episode is determined by its seed and the actions, so for an actor without memory the order in which players
        become free does not matter.

        Args:
            actor: Chooses the actions.
            seeds: Seeds of the episodes.
            watch: Called with every episode and its trajectory; none is played after it returns false. Episodes are
                then played one after the other.
        """
        started = time.monotonic()
        lanes = 1 if watch else min(len(seeds), MOST_ENVIRONMENTS)
        while len(self._players) < lanes:
            self._players.append(Player(make_playable(self.task), record=watch is not None))

        def acts(playing: Sequence[Player]) -> Sequence[Any]:
            actions = actor.act(
                [flatten(player.env.observation_space, player.observation) for player in playing]
            )
            if not isinstance(actor, TrainedAgent):
                return actions
            return [
                from_zero(player.env.action_space, action)
                for player, action in zip(playing, actions, strict=True)
            ]

        ended: dict[int, Episode] = {}
        for episode in side_by_side(self._players[:lanes], seeds, acts):
            ended[episode.seed] = episode
            if watch is not None and not watch(episode):
                break
        played = [ended[seed] for seed in seeds if seed in ended]
        rollout = Rollout(tuple(played), None, sum(episode.steps for episode in played), "", 0.0)
        return evaluation_of(rollout, time.monotonic() - started)

    def close(self) -> None:
        """Close the environments."""
        for player in self._players:
            player.env.close()
        self._players.clear()


def side_by_side(
    lanes: Sequence[Any], seeds: Sequence[int], act: Callable[[Sequence[Any]], Sequence[Any]]
) -> Iterator[Any]:
    """Play an episode for each seed in parallel lanes, and yield its result when it ends.

    Args:
        lanes: Objects with ``start(seed)``, and with ``step(action)``, which returns the result of an episode that it
            ends.
        seeds: Seeds of the episodes.
        act: Returns an action for each of the lanes that are playing.
    """
    waiting = deque(seeds)
    playing = list(lanes[: len(seeds)])
    for lane in playing:
        lane.start(waiting.popleft())
    while playing:
        still = []
        for lane, action in zip(playing, act(playing), strict=True):
            episode = lane.step(action)
            if episode is not None:
                yield episode
                if not waiting:
                    continue
                lane.start(waiting.popleft())
            still.append(lane)
        playing = still
