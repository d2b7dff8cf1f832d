"""A family of environments behind one: the seed of an episode decides which variant it plays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces

from promptpo.envs.foreign import AnyEnv
from promptpo.envs.spaces import ends
from promptpo.errors import UsageError

if TYPE_CHECKING:
    from promptpo.envs.spaces import AnySpace
    from promptpo.envs.task import Task


class Family(gymnasium.Wrapper[Any, Any, Any, Any]):
    """One environment per variant; ``reset(seed=...)`` picks the one that the task gives that seed.

    Args:
        task: With variants.
        build: Makes the environment of one variant's task.

    A reset without a seed goes on to the next variant of training. Variants are built when they are first
    played, and all of them by `everyone`. The observation space holds the observations of all variants.

    Raises:
        UsageError: The variants cannot be solved by one policy, since their spaces differ.
    """

    def __init__(self, task: Task, build: Callable[[Task], AnyEnv]) -> None:
        self.task = task
        self._build = build
        self._tasks = tuple(task.singles())
        self._envs: dict[int, AnyEnv] = {}
        self._next = 0
        super().__init__(self._variant(0))

    def _variant(self, index: int) -> AnyEnv:
        if index not in self._envs:
            self._envs[index] = self._build(self._tasks[index])
        return self._envs[index]

    def all_members(self) -> tuple[AnyEnv, ...]:
        """The environments of all variants, those held out included, in the order of `Task.playable`."""
        return tuple(self._variant(index) for index in range(len(self._tasks)))

    def agree(self) -> None:
        """Find the spaces that all variants share, and keep those of the observations that hold them all.

        Raises:
            UsageError: There are none; the sentence names the first difference.
        """
        first, *others = self.all_members()
        names = [variant.name for variant in self.task.playable]
        space = first.observation_space
        for env, name in zip(others, names[1:], strict=True):
            for role, mine, theirs in (
                ("observe", space, env.observation_space),
                ("act", first.action_space, env.action_space),
            ):
                if union_of(mine, theirs) is None or (role == "act" and mine != theirs):
                    raise UsageError(
                        f"one policy cannot play all variants of {self.task.env_id}: {names[0]} and {name} {role} in "
                        f"different spaces, {mine} and {theirs}; leave one out, or make them equal with a wrapper."
                    )
            space = union_of(space, env.observation_space) or space
        self.observation_space = space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode of the variant that the seed decides."""
        number = self._next if seed is None else seed
        self._next = (number + 1) % len(self.task.family)
        self.env = self._variant(self.task.index_of(number))
        return self.env.reset(seed=seed, options=options)

    @property
    def playing(self) -> int:
        """Position in `Task.playable` of the variant of the running episode."""
        return next(index for index, env in self._envs.items() if env is self.env)

    def close(self) -> None:
        """Close the environments of all variants."""
        for env in self._envs.values():
            env.close()


class ShownVariant(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Puts the number of the variant beside the observation."""

    def __init__(self, env: Family) -> None:
        super().__init__(env)
        self._family = env
        self.observation_space = spaces.Dict(
            {"observation": env.observation_space, "variant": spaces.Discrete(len(env.task.family))}
        )

    def observation(self, observation: Any) -> dict[str, Any]:
        """The observation and the number of the variant."""
        return {"observation": observation, "variant": self._family.playing}


def make_family(task: Task, build: Callable[[Task], AnyEnv]) -> AnyEnv:
    """The environment of a task with variants.

    Args:
        task: The family.
        build: Makes the environment of one variant's task.

    Raises:
        UsageError: One policy cannot play all variants.
    """
    task.validate()
    family = Family(task, build)
    try:
        key = (repr(task), type(family.unwrapped))  # a class that a notebook defines anew is another one
        if key not in _AGREED:
            family.agree()
            _AGREED[key] = family.observation_space
        family.observation_space = _AGREED[key]
    except BaseException:
        family.close()
        raise
    return ShownVariant(family) if task.show_variant else family


_AGREED: dict[tuple[str, type[Any]], AnySpace] = {}
"""Observation spaces of families that were built in this process: one look at all variants is enough."""


def family_of(env: AnyEnv) -> Family | None:
    """The family in an environment's wrappers; None where there is none."""
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, Family):
            return env
        env = env.env
    return None


def members_of(env: AnyEnv) -> Sequence[AnyEnv]:
    """The environments of a family, or the environment alone."""
    family = family_of(env)
    return family.all_members() if family is not None else [env]


def longest(env: AnyEnv) -> int | None:
    """The time limit of an environment in steps, of a family's the longest; None where one has none."""
    limits = [member.spec.max_episode_steps if member.spec else None for member in members_of(env)]
    return None if None in limits else max(filter(None, limits))


def union_of(a: AnySpace, b: AnySpace) -> AnySpace | None:
    """A space that holds the values of both; None where their values differ in kind or shape.

    Bounds of boxes may differ, since a policy sees values and not bounds.
    """
    if a == b:
        return a
    if type(a) is not type(b) or a.shape != b.shape or a.dtype != b.dtype:
        return None
    (low, high), (least, most) = ends(a), ends(b)
    match a, b:
        case spaces.Box(), spaces.Box():
            return spaces.Box(np.minimum(low, least), np.maximum(high, most), dtype=a.dtype.type)
        case spaces.Discrete(), _:
            start = int(min(low, least))
            return spaces.Discrete(int(max(high, most)) + 1 - start, start=start)
        case spaces.MultiDiscrete(), _:
            start = np.minimum(low, least)
            return spaces.MultiDiscrete(np.maximum(high, most) + 1 - start, start=start)
        case spaces.Dict(), spaces.Dict() if a.keys() == b.keys():
            inner = {key: union_of(item, b[key]) for key, item in a.items()}
            return None if None in inner.values() else spaces.Dict(inner)  # type: ignore[arg-type] # none is None
        case spaces.Tuple(), spaces.Tuple() if len(a) == len(b):
            parts = [union_of(x, y) for x, y in zip(a, b, strict=True)]
            return None if None in parts else spaces.Tuple(parts)  # type: ignore[arg-type] # none is None
    return None
