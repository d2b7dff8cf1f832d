"""Environments in the form that stable-baselines3 takes: flat spaces, seeded training episodes, several in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit, TransformAction, TransformObservation, TransformReward

from promptpo.core.candidate import SEEDS_PER_PURPOSE, Seeds
from promptpo.envs.building import make_env
from promptpo.envs.contract import ContractEnv
from promptpo.envs.family import longest
from promptpo.envs.rewarded import RewardedEnv
from promptpo.envs.spaces import at, leaves
from promptpo.envs.task import Task
from promptpo.errors import UnsupportedSpaceError
from promptpo.run.episodes import UNBOUNDED_HORIZON
from promptpo_baselines.actions import count_from_zero, from_zero, to_zero

if TYPE_CHECKING:
    from collections.abc import Callable

    from stable_baselines3.common.vec_env import DummyVecEnv

AnyEnv = gymnasium.Env[Any, Any]
AnySpace = spaces.Space[Any]

SMALLEST_IMAGE = 36
"""Minimum side of an image for the convolutions of SB3's image policy, in pixels."""
DIRECT = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)
"""Observation spaces that SB3 reads without conversion."""


def make_flat_env(task: Task) -> AnyEnv:
    """Make an environment with spaces that SB3 can use and episodes that end.

    Observations that are dicts or tuples become one flat vector (without text parts, such as MiniGrid's mission); text
    stays text, which only agents that ignore observations can take. If neither the task nor the environment has a
    horizon, episodes are truncated at `UNBOUNDED_HORIZON` steps.

    Raises:
        UnsupportedSpaceError: The action space is a dict, a tuple or text.
    """
    env = make_playable(task)
    actions = env.action_space
    if not isinstance(actions, DIRECT):
        env.close()
        raise UnsupportedSpaceError(
            f"stable-baselines3 has no policy for the action space of {task.name}: {actions}; name a wrapper that makes it a "
            "MultiDiscrete or a Box with --wrapper ./FILE.py:CLASS."
        )
    counted = count_from_zero(actions)
    if counted is not actions:
        env = TransformAction(env, lambda action: from_zero(actions, action), counted)
    flat = flat_space(env.observation_space)
    if flat is env.observation_space:
        return env
    raw = env.observation_space
    return TransformObservation(env, lambda observation: flatten(raw, observation), flat)


def make_playable(task: Task, *, allow_weaker: bool = False) -> AnyEnv:
    """Make an environment that explains its errors in a sentence, whose episodes end, with rewards of any reward program.

    Args:
        task: The task to build.
        allow_weaker: Let a reward program run on a machine that lacks sandbox layers.
    """
    env: AnyEnv = TransformReward(ContractEnv(make_env(task), task.name), float)
    if task.max_episode_steps is None and longest(env) is None:
        env = TimeLimit(env, UNBOUNDED_HORIZON)
    return env if task.reward is None else RewardedEnv(env, task.reward, allow_weaker=allow_weaker)


def numeric(space: AnySpace) -> list[tuple[tuple[str | int, ...], AnySpace]]:
    """Return the parts of a nested space with the keys that lead to each; text, which networks do not read, is left out."""
    return [(path, part) for path, part in leaves(space) if not isinstance(part, spaces.Text)]


def flat_space(space: AnySpace) -> AnySpace:
    """Return the space of `flatten`'s results; the space itself, counted from 0, if SB3 reads it directly."""
    if isinstance(space, (*DIRECT, spaces.Text)):
        return count_from_zero(space)
    return spaces.flatten_space(spaces.Tuple([part for _, part in numeric(space)]))


def flatten(space: AnySpace, observation: Any) -> Any:
    """Convert an observation to the form that SB3 reads."""
    if isinstance(space, (*DIRECT, spaces.Text)):
        return to_zero(space, observation)
    parts = [(part, at(observation, path)) for path, part in numeric(space)]
    return spaces.flatten(spaces.Tuple([part for part, _ in parts]), tuple(value for _, value in parts))


def vector(space: AnySpace, observation: Any) -> np.ndarray[Any, Any]:
    """Return an observation as one vector of float64, without its text."""
    return np.asarray(spaces.flatten(flat_space(space), flatten(space, observation)), float)


def policy_name(space: AnySpace) -> str:
    """Return SB3's name of the policy for an observation space: convolutions for images, else dense layers."""
    from stable_baselines3.common.preprocessing import is_image_space

    if (
        isinstance(space, spaces.Box)
        and is_image_space(space)
        and min(sorted(space.shape)[1:]) >= SMALLEST_IMAGE
    ):
        return "CnnPolicy"
    return "MlpPolicy"


def training_envs(
    task: Task, n: int, run_seed: int, first_episode: int, build: Callable[[Task], AnyEnv] = make_flat_env
) -> DummyVecEnv:
    """Make `n` environments in this process that play the run's training seeds one after the other.

    They share one process because worker processes on two cores made every environment of Gymnasium slower.

    Args:
        task: The task to build.
        n: Number of environments.
        run_seed: Seed of the run, which determines the training seeds.
        first_episode: Index of the first training seed. A resumed run passes the number of steps already
            taken, which is more than the number of episodes, so that none is played twice.
        build: Makes one environment.

    Raises:
        UnsupportedSpaceError: Observations are text only, which networks of SB3 do not read.
    """
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import DummyVecEnv

    def make(index: int) -> Monitor[Any, Any]:
        env = SeededEpisodes(build(task), Seeds(run_seed), first=first_episode + index, stride=n)
        if not spaces.flatdim(flat_space(env.observation_space)) or not numeric(env.observation_space):
            raise UnsupportedSpaceError(
                f"{task.name} observes only text, which the networks of stable-baselines3 cannot read; "
                f"promptpo optimize {task.label} writes programs that do."
            )
        return Monitor(env, info_keywords=())

    return DummyVecEnv([lambda index=index: make(index) for index in range(n)])  # type: ignore[misc]


class SeededEpisodes(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Starts every episode from the next training seed, whatever seed the caller gives.

    Args:
        env: The environment.
        seeds: Seeds of the run.
        first: Index of the first training seed.
        stride: Distance to the next; other environments play those in between.
    """

    def __init__(self, env: AnyEnv, seeds: Seeds, *, first: int, stride: int) -> None:
        super().__init__(env)
        self._seeds, self._next, self._stride = seeds, first, stride

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start the next episode."""
        del seed
        (chosen,) = self._seeds.train(1, start=self._next % SEEDS_PER_PURPOSE)
        self._next += self._stride
        return self.env.reset(seed=chosen, options=options)
