"""Scoring an agent on given seeds: several environments side by side, one batch of actions for all."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium import spaces

from promptpo.envs.task import Task
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo_baselines.agents import Actor
from promptpo_baselines.environments import AnyEnv, make_flat_env

MOST_ENVIRONMENTS = 16


@dataclass
class _Player:
    """One environment and the episode that it plays."""

    env: AnyEnv
    seed: int = 0
    observation: Any = None
    return_: float = 0.0
    steps: int = 0
    success: bool | None = None

    def start(self, seed: int) -> None:
        """Start an episode."""
        self.seed, self.return_, self.steps, self.success = seed, 0.0, 0, None
        self.observation, _ = self.env.reset(seed=seed)

    def step(self, action: Any) -> EpisodeRecord | None:
        """Take a step; the record of the episode when that ended it."""
        self.observation, reward, terminated, truncated, info = self.env.step(action)
        self.return_ += float(reward)
        self.steps += 1
        for key in ("success", "is_success"):
            if key in info:
                self.success = bool(self.success) or bool(info[key])
        if not (terminated or truncated):
            return None
        rewarded = "reward_parts" in info
        return EpisodeRecord(
            self.seed,
            self.return_,
            self.steps,
            self.success,
            bool(terminated),
            bool(truncated),
            env_return=info.get("env_return") if rewarded else None,
            parts=info["reward_parts"] if rewarded else {},
        )


@dataclass
class Evaluator:
    """Plays episodes of a task; keeps its environments between evaluations.

    Attributes:
        task: What is played.
    """

    task: Task
    _players: list[_Player] = field(default_factory=list)

    def evaluate(self, actor: Actor, seeds: Sequence[int]) -> Evaluation:
        """Play one episode for each seed.

        An episode is decided by its seed and the actions, so the order in which players become free
        changes nothing for an actor without memory.

        Args:
            actor: What acts.
            seeds: Of the episodes.
        """
        started = time.monotonic()
        while len(self._players) < min(len(seeds), MOST_ENVIRONMENTS):
            self._players.append(_Player(make_flat_env(self.task)))
        waiting = deque(seeds)
        playing = self._players[: len(seeds)]
        for player in playing:
            player.start(waiting.popleft())
        records: dict[int, EpisodeRecord] = {}
        while playing:
            actions = actor.act(np.stack([np.asarray(player.observation) for player in playing]))
            still = []
            for player, action in zip(playing, actions, strict=True):
                record = player.step(self._as_action(player.env, action))
                if record is not None:
                    records[player.seed] = record
                    if not waiting:
                        continue
                    player.start(waiting.popleft())
                still.append(player)
            playing = still
        episodes = tuple(records[seed] for seed in seeds)
        steps = sum(episode.steps for episode in episodes)
        return Evaluation("ok", episodes, steps, seconds=time.monotonic() - started)

    def close(self) -> None:
        """Close the environments."""
        for player in self._players:
            player.env.close()
        self._players.clear()

    @staticmethod
    def _as_action(env: AnyEnv, action: Any) -> Any:
        return int(action) if isinstance(env.action_space, spaces.Discrete) else action
