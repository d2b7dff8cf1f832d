"""One lane of a batch: an environment and the episode that runs in it now."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import gymnasium

from promptpo_sandbox.results import Episode, Failure, Trajectory, Trial
from promptpo_sandbox.seeds import digest_of

if TYPE_CHECKING:
    from promptpo_sandbox.rewards import RewardedEpisode


Tape: TypeAlias = tuple[list[Any], list[Any], list[float], list[Mapping[str, Any]], list[Mapping[str, float]]]


def order(index: int, trial: Trial) -> tuple[int, bytes, dict[str, float] | None]:
    """Return the order for a guest to start a lane: its number, the digest of the seed and the policy's parameters."""
    return index, digest_of(trial.seed), None if trial.params is None else dict(trial.params)


@dataclass(slots=True, eq=False)
class Lane:
    """An episode in progress.

    Attributes:
        index: Number of the lane, the same on both sides.
        env: Its environment, owned by the caller.
        position: Index of the trial in the order given.
        trial: The trial to run.
        step: ``env.step``, or that of `rewarded`.
        obs: The observation to send next.
        steps: Steps taken.
        last_round: The round that the horizon makes the last; -1 without a horizon.
        total: Sum of rewards.
        least: The least reward of a step; infinity before the first.
        most: The greatest; minus infinity before the first.
        success: See `Episode`.
        clipped: See `Episode`.
        seconds: Policy time charged to this lane alone.
        share_before: The guest's shared policy time per lane when it started.
        output_bytes: Bytes of output that the guest has sent.
        taken: Actions of an earlier attempt at this episode, which it repeats first.
        debug: The policy's ``debug`` at its latest action.
        seen: The latest result of the policy's ``perceive`` in its latest action.
        recorded: Observations, actions, rewards, ``debug`` and numbers of ``info``, if requested.
        rewarded: Computes the rewards by a reward program; None if the environment's count.
    """

    index: int
    env: gymnasium.Env[Any, Any]
    position: int
    trial: Trial
    step: Callable[[Any], tuple[Any, Any, bool, bool, dict[str, Any]]]
    obs: Any = None
    steps: int = 0
    last_round: int = -1
    total: float = 0.0
    least: float = math.inf
    most: float = -math.inf
    success: bool | None = None
    clipped: int = 0
    seconds: float = 0.0
    share_before: float = 0.0
    output_bytes: int = 0
    taken: Sequence[Any] = ()
    debug: Mapping[str, Any] = field(default_factory=dict)
    seen: Mapping[str, Any] = field(default_factory=dict)
    recorded: Tape | None = field(default=None)
    rewarded: RewardedEpisode | None = None

    def episode(
        self,
        *,
        seconds: float,
        terminated: bool = False,
        truncated: bool = False,
        failure: Failure | None = None,
    ) -> Episode:
        """Return the finished episode.

        Raises:
            RewardFailedError: The reward program failed.
        """
        episode = Episode(
            seed=self.trial.seed,
            return_=float(self.total),
            steps=self.steps,
            terminated=bool(terminated),
            truncated=bool(truncated),
            success=self.success,
            clipped=self.clipped,
            policy_seconds=seconds,
            trajectory=None if self.recorded is None else self._trajectory(*self.recorded),
            failure=failure,
            extremes=(self.least, self.most) if self.least <= self.most else (),
        )
        return episode if self.rewarded is None or self.obs is None else self._rescore(episode, self.rewarded)

    @staticmethod
    def _rescore(episode: Episode, rewarded: RewardedEpisode) -> Episode:
        """Return the episode with the reward program's returns."""
        scored = rewarded.end()
        seen = episode.trajectory
        return replace(
            episode,
            return_=math.fsum(scored.rewards),
            env_return=episode.return_,
            parts=scored.parts,
            success=scored.success,
            extremes=(min(scored.rewards), max(scored.rewards)) if scored.rewards else (),
            trajectory=None if seen is None else replace(seen, rewards=scored.rewards),
        )

    @staticmethod
    def _trajectory(
        observations: list[Any],
        actions: list[Any],
        rewards: list[float],
        debug: list[Mapping[str, Any]],
        infos: list[Mapping[str, float]],
    ) -> Trajectory:
        return Trajectory(observations, actions, rewards, debug if any(debug) else (), infos)

    def widen(self, reward: float) -> None:
        """Extend the range of rewards by one outside of it; a reward that is not finite is ignored."""
        if math.isfinite(reward):
            self.least, self.most = min(self.least, float(reward)), max(self.most, float(reward))

    def note_success(self, info: dict[str, Any]) -> None:
        """Remember what an info says about success."""
        for key in ("success", "is_success"):
            if key in info:
                self.success = bool(self.success) or bool(info[key])
