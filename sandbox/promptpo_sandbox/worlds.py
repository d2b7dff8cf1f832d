"""World models from the host's side: what is asked of one, and what it answers.

A world model is untrusted code like a policy. It runs behind the same gate and in the same confined process,
within the deadline of one call. What it answers is plain data that is checked here; what it is held against
never crosses the border.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from promptpo_sandbox.asked import AskFailedError
from promptpo_sandbox.guest.actions import InvalidActionError, Layout, coerce
from promptpo_sandbox.guest.worlds import packed, value_at
from promptpo_sandbox.pipes import failed
from promptpo_sandbox.results import Episode, Failure, Rollout, Trajectory, Trial, unstarted
from promptpo_sandbox.seeds import digest_of
from promptpo_sandbox.spaces import layout_of

MOST_STEPS = 200_000
"""Steps that one message may ask a world to predict."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The steps of one episode: T actions and T + 1 observations.

    Attributes:
        observations: In their space's fixed layout (an array with one row each) or a list.
        actions: The same.
        rewards: T.
        terminated: Whether the last step ended the episode.
    """

    observations: Any
    actions: Any
    rewards: np.ndarray[Any, Any]
    terminated: bool

    def __len__(self) -> int:
        return len(self.rewards)


@dataclass(frozen=True, slots=True)
class Replay:
    """A request to predict recorded steps.

    Attributes:
        source: The module with ``class World``.
        params: Values of its ``PARAMS``; None where it declares none.
        episodes: What is to be predicted.
        every: Steps between two observations that the world is shown; it predicts those between from its own.
        seed: Decides its random numbers.
        observation_space: Of the task.
        action_space: Of the task.
    """

    source: str
    params: Mapping[str, float] | None
    episodes: tuple[Recorded, ...]
    every: int
    seed: int
    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]


@dataclass(frozen=True, slots=True)
class Predictions:
    """What a replay gave, for all steps of its episodes one after another.

    Attributes:
        observations: Predicted, in the layout of `Recorded`; empty after a failure.
        rewards: Predicted.
        terminated: Predicted.
        failure: What the world did wrong; None where it answered.
    """

    observations: Any
    rewards: np.ndarray[Any, Any]
    terminated: np.ndarray[Any, Any]
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Imagine:
    """A request to let a policy act in a world.

    Attributes:
        source: The module with ``class World``.
        params: Values of its ``PARAMS``; None where it declares none.
        policy: The policy module.
        trials: Parameters of the policy and horizons, which must be given; a seed decides the start and all random
            numbers.
        starts: Observations that episodes may start from.
        observation_space: Of the task.
        action_space: Of the task.
        record: Whether to bring trajectories back.
    """

    source: str
    params: Mapping[str, float] | None
    policy: str
    trials: tuple[Trial, ...]
    starts: tuple[Any, ...]
    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]
    record: bool = False


class WorldFailedError(AskFailedError):
    """A world failed while a policy acted in it; the policy is not to blame."""


def boundless(space: gymnasium.Space[Any], example: Any = None) -> Layout:
    """The layout of a space for values that may lie outside its bounds, with the example's dtype and shape.

    Raises:
        SpaceBorderError: It has none.
    """
    layout = layout_of(space)
    if layout[0] == "box" and isinstance(example, np.ndarray) and example.dtype.kind in "biuf":
        return ("box", example.dtype.str, example.shape, *layout[3:])
    return layout


def recorded(space: gymnasium.Space[Any], actions: gymnasium.Space[Any], episode: Episode) -> Recorded | None:
    """The steps of an episode with a trajectory; None where they do not fit their spaces.

    Raises:
        SpaceBorderError: A space cannot cross the border.
    """
    trajectory = episode.trajectory
    if trajectory is None or not len(trajectory.rewards):
        return None
    try:
        seen = _packed(space, trajectory.observations)
        done = _packed(actions, trajectory.actions)
    except (InvalidActionError, ValueError, TypeError):
        return None
    return Recorded(seen, done, np.asarray(trajectory.rewards, float), episode.terminated)


def _packed(space: gymnasium.Space[Any], values: Sequence[Any]) -> Any:
    """Values of one space in a compact form."""
    first = values[0]
    layout = boundless(space, np.asarray(first) if isinstance(space, spaces.Box) else None)
    return packed([coerce(layout, value, bounds=False) for value in values], layout)


def replaying(request: Replay) -> dict[str, Any]:
    """What a guest that has loaded the world is asked."""
    example = request.episodes[0].observations
    first = example[0] if isinstance(example, np.ndarray) and example.ndim > 1 else None
    return {
        "digest": digest_of(request.seed),
        "params": None if request.params is None else dict(request.params),
        "layout": boundless(request.observation_space, first),
        "every": request.every,
        "episodes": [(_shown(episode, request.every), episode.actions) for episode in request.episodes],
    }


def _shown(episode: Recorded, every: int) -> Any:
    """The observations that the world is put in step with, and no others."""
    return episode.observations[: len(episode) : every]


def most_predicted(request: Replay) -> int:
    """How many values the answer of a guest may have."""
    return 64 + 64 * sum(map(len, request.episodes))


def predictions(answer: Any, request: Replay) -> Predictions:
    """What a guest answered to `replaying`.

    Raises:
        ValueError: It is no such answer; or another error that taking it apart may raise.
    """
    steps = sum(map(len, request.episodes))
    kept = request.episodes[0].observations
    observations, rewards, ends = answer
    arrays = isinstance(kept, np.ndarray)
    if arrays:
        good = isinstance(observations, np.ndarray) and observations.shape == (steps, *kept.shape[1:])
        good = good and observations.dtype.kind in "biuf" and bool(np.isfinite(observations).all())
    else:
        good = isinstance(observations, list) and len(observations) == steps
        layout = layout_of(request.observation_space)
        observations = [coerce(layout, one, bounds=False) for one in observations] if good else []
    for numbers in (rewards, ends):
        good = good and isinstance(numbers, np.ndarray) and numbers.shape == (steps,)
        good = good and numbers.dtype.kind in "if" and bool(np.isfinite(numbers).all())
    if not good:
        raise ValueError("malformed predictions")
    return Predictions(observations, rewards.astype(float), ends != 0)


def unpredicted(failure: Failure) -> Predictions:
    """The predictions of a world that made none."""
    nothing = np.zeros(0)
    return Predictions(nothing, nothing, nothing.astype(bool), failure)


def start_of(starts: Sequence[Any], seed: int) -> Any:
    """The observation that an imagined episode of a seed starts from."""
    number = int.from_bytes(digest_of(seed)[:8], "little")
    return starts[number % len(starts)]


def imagining(request: Imagine, source_bytes: int) -> dict[str, Any]:
    """What a guest that has loaded the world is asked.

    Args:
        request: What for.
        source_bytes: Of the policy, at most.

    Raises:
        ValueError: A trial has no horizon, or there is nothing to start from.
    """
    if not request.starts or any(trial.horizon is None for trial in request.trials):
        raise ValueError("imagined episodes need something to start from and a horizon")
    example = request.starts[0]
    return {
        "digest": digest_of(request.trials[0].seed),
        "params": None if request.params is None else dict(request.params),
        "layout": boundless(request.observation_space, example if isinstance(example, np.ndarray) else None),
        "action_layout": layout_of(request.action_space),
        "policy": request.policy,
        "source_bytes": source_bytes,
        "record": request.record,
        "trials": [
            (
                start_of(request.starts, trial.seed),
                digest_of(trial.seed),
                None if trial.params is None else dict(trial.params),
                trial.horizon,
            )
            for trial in request.trials
        ],
    }


def most_imagined(request: Imagine) -> int:
    """How many values the answer of a guest may have."""
    steps = sum(trial.horizon or 0 for trial in request.trials) if request.record else 0
    return 64 * (steps + len(request.trials)) + 64


def imagined(answer: Any, request: Imagine) -> Rollout:
    """What a guest answered to `imagining`: a rollout like that of the environment.

    Raises:
        ValueError: It is no such answer; or another error that taking it apart may raise.
    """
    trials = request.trials
    if len(answer) == 1 and len(answer[0]) == 3:  # noqa: PLR2004 - the policy's source was refused
        failure = Failure(*failed(answer[0]))
        return Rollout(tuple(unstarted(trial, failure) for trial in trials), failure, 0, "", 0.0)
    if len(answer) != len(trials):
        raise ValueError("malformed episodes")
    episodes = tuple(_episode(one, trial, request) for one, trial in zip(answer, trials, strict=True))
    first = next((episode.failure for episode in episodes if episode.failure is not None), None)
    return Rollout(episodes, first, sum(episode.steps for episode in episodes), "", 0.0)


def _episode(value: Any, trial: Trial, request: Imagine) -> Episode:
    return_, steps, ended, seen, failure = value
    if type(return_) is not float or type(steps) is not int or type(ended) is not bool:
        raise TypeError
    if not math.isfinite(return_) or not 0 <= steps <= (trial.horizon or 0):
        raise ValueError
    trajectory = None
    if request.record:
        observations, actions, rewards = seen
        numbers = np.asarray(rewards, float)
        if len(observations) != steps + 1 or len(actions) != steps or numbers.shape != (steps,):
            raise ValueError
        start = request.starts[0]
        seen_as = boundless(request.observation_space, start if isinstance(start, np.ndarray) else None)
        done_as = layout_of(request.action_space)
        trajectory = Trajectory(
            [coerce(seen_as, value_at(observations, i), bounds=False) for i in range(steps + 1)],
            [coerce(done_as, value_at(actions, i)) for i in range(steps)],
            numbers.tolist(),
        )
    return Episode(
        trial.seed,
        return_,
        steps,
        terminated=ended,
        truncated=not ended and failure is None,
        success=None,
        clipped=0,
        policy_seconds=0.0,
        trajectory=trajectory,
        failure=None if failure is None else Failure(*failed(failure)),
    )
