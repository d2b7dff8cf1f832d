"""Watching an environment for a few steps of random actions: ranges, sample rows, and whether it repeats."""

from __future__ import annotations

import itertools
import time
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.envs.contract import ReturnContract, old_interface
from promptpo.envs.family import family_of
from promptpo.envs.patience import STEPPING, patience
from promptpo.envs.pictures import pictures_in
from promptpo.errors import EnvironmentFaultError, PromptPOError, place_of
from promptpo.spec.horizon import horizon_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import gymnasium

SEEDS = (0, 1, 2, 3)
STEPS_PER_EPISODE = 50
STEPS_PER_EPISODE_SLOW = 8
SLOW_MODULES = ("highway_env", "gymnasium.envs.box2d.car_racing")
"""Simulators that take a large part of a second for a step."""

MOST_STEPS = 1000
"""About so many in all, however many variants a family has."""

REPEATED_STEPS = 5

WELL_INSIDE, WATCHED = 60, 6
"""Where observations are pictures: an episode is looked at again from this step on, for so many steps."""

MOST_OF_ONE, LOOKING_SECONDS = 1500, 5.0
"""Steps and seconds for which one episode goes on where nothing bounds it, to see whether it ends by itself."""


@dataclass(frozen=True, slots=True)
class Step:
    """One observed step."""

    observation: Any
    action: Any
    reward: float
    next_observation: Any
    terminated: bool
    info: dict[str, Any]
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Observed:
    """What a few episodes of random actions showed.

    Attributes:
        steps: Every step, in order.
        observations: Every observation, first ones included.
        spent: Environment steps taken, those for the repetition included.
        episodes: Number of episodes.
        repeats: Whether the first episode came out the same a second time.
        seconds: That all of them took.
        firsts: The first observation of each episode.
        inside: Where observations are pictures: steps from well inside an episode, in order.
        inside_at: After how many steps of the episode these begin.
        whole: Steps of an episode that nothing bounds and that ended by itself; None where none did, or was looked at.
    """

    steps: Sequence[Step]
    observations: Sequence[Any]
    spent: int
    episodes: int
    repeats: bool
    seconds: float = 0.0
    firsts: Sequence[Any] = ()
    inside: Sequence[Step] = ()
    inside_at: int = 0
    whole: int | None = None

    @property
    def one_start(self) -> bool:
        """Whether all episodes began with the same observation."""
        return all(_equal(first, self.firsts[0]) for first in self.firsts[1:]) and len(self.firsts) > 1


def observe(env: gymnasium.Env[Any, Any], name: str) -> Observed:
    """Take random actions from fixed seeds, so that the same environment shows the same again.

    Args:
        env: The environment; it is left in some state in the middle of an episode.
        name: For error messages.

    Raises:
        EnvironmentFaultError: The environment raised, or hung.
    """
    module = type(env.unwrapped).__module__
    limit = STEPS_PER_EPISODE_SLOW if module.startswith(SLOW_MODULES) else STEPS_PER_EPISODE
    started = time.perf_counter()
    try:
        seeds = _seeds(env)
        limit = max(STEPS_PER_EPISODE_SLOW, min(limit, MOST_STEPS // len(seeds)))
        episodes = [_episode(env, seed, limit, name) for seed in seeds]
        again = _episode(env, SEEDS[0], REPEATED_STEPS, name)
        inside, inside_at, looked, whole = _further(env, name)
    except PromptPOError:
        raise
    except Exception as fault:  # a foreign environment: anything can come out of it
        raise EnvironmentFaultError(
            f"the environment {name} raised {type(fault).__name__} under random actions: {fault}"
            f"{place_of(fault)}{old_interface(fault)}"
        ) from fault
    seconds = time.perf_counter() - started
    steps = [step for episode in episodes for step in episode]
    firsts = [episode[0].observation for episode in episodes]
    return Observed(
        steps=steps,
        observations=[*firsts, *(step.next_observation for step in steps)],
        spent=len(steps) + len(again) + looked,
        episodes=len(seeds),
        repeats=all(_same(a, b) for a, b in zip(episodes[0], again, strict=False)),
        seconds=seconds,
        firsts=firsts,
        inside=inside,
        inside_at=inside_at,
        whole=whole,
    )


def _further(env: gymnasium.Env[Any, Any], name: str) -> tuple[list[Step], int, int, int | None]:
    """More of one episode: steps from well inside it, where they begin, steps taken, and its length where it ended.

    Nothing is looked at where neither pictures nor an open end ask for it.
    """
    if family_of(env) is not None:
        return [], 0, 0, None
    pictures, unbounded = bool(pictures_in(env.observation_space)), horizon_of(env) is None
    most = MOST_OF_ONE if unbounded else WELL_INSIDE + WATCHED if pictures else 0
    if not most:
        return [], 0, 0, None
    kept: list[Step] = []
    taken, until = 0, time.perf_counter() + LOOKING_SECONDS
    ended = False
    for step, over in _steps(env, SEEDS[0], name):
        taken += 1
        ended = over
        if pictures and taken <= WELL_INSIDE + WATCHED:
            kept.append(step)
        if taken >= most or time.perf_counter() > until:
            break
    begin = min(WELL_INSIDE, len(kept) // 3) if len(kept) < WELL_INSIDE + WATCHED else WELL_INSIDE
    return kept[begin : begin + WATCHED], begin, taken, taken if unbounded and ended else None


def _seeds(env: gymnasium.Env[Any, Any]) -> Sequence[int]:
    """Seeds to observe: at least two episodes of each variant of a family, those held out left out."""
    family = family_of(env)
    return SEEDS if family is None else range(max(len(SEEDS), 2 * len(family.task.family)))


def _episode(env: gymnasium.Env[Any, Any], seed: int, limit: int, name: str) -> list[Step]:
    return [step for step, _ in itertools.islice(_steps(env, seed, name), limit)]


def _steps(env: gymnasium.Env[Any, Any], seed: int, name: str) -> Iterator[tuple[Step, bool]]:
    """Steps of random actions until the episode ends, each with whether it does."""
    contract = ReturnContract(env, name)
    with patience(STEPPING, f"a reset of {name}"):
        observation, _ = contract.reset(env.reset(seed=seed))
        observation = deepcopy(observation)
    env.action_space.seed(seed)
    while True:
        action = env.action_space.sample()
        with patience(STEPPING, f"a step of {name}"):
            following, reward, terminated, truncated, info = contract.step(env.step(action))
        contract.finite(reward)
        following = deepcopy(following)  # some environments return the same array at every step
        over = bool(terminated or truncated)
        yield Step(observation, action, float(reward), following, bool(terminated), info, seed), over
        observation = following
        if over:
            return


def _same(a: Step, b: Step) -> bool:
    return a.reward == b.reward and _equal(a.next_observation, b.next_observation)


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return set(a) == set(b) and all(_equal(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_equal, a, b))
    return bool(np.array_equal(a, b, equal_nan=isinstance(a, np.ndarray) and a.dtype.kind == "f"))
