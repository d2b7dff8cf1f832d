"""A family of environments behind a single one; an episode's seed selects its variant."""

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
    """One environment per variant; ``reset(seed=...)`` selects the one that the task assigns to the seed.

    A reset without a seed moves on to the next training variant. Variants are built when first played, or all at once
    by `all_members`. After `agree`, the observation space holds the observations of all variants.

    Args:
        task: The task with variants.
        build: Builds the environment of one variant's task.
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
        """Return the environments of all variants, including held-out ones, in the order of `Task.playable`."""
        return tuple(self._variant(index) for index in range(len(self._tasks)))

    def agree(self) -> None:
        """Set the observation space to the union of all variants' spaces.

        Raises:
            UsageError: The variants' spaces are incompatible; the message names the first difference.
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
        """Begin an episode of the seed's variant."""
        number = self._next if seed is None else seed
        self._next = (number + 1) % len(self.task.family)
        self.env = self._variant(self.task.index_of(number))
        return self.env.reset(seed=seed, options=options)

    @property
    def playing(self) -> int:
        """Position in `Task.playable` of the current episode's variant."""
        return next(index for index, env in self._envs.items() if env is self.env)

    def close(self) -> None:
        """Close the environments of all variants."""
        for env in self._envs.values():
            env.close()


class ShownVariant(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Add the number of the variant to the observation."""

    def __init__(self, env: Family) -> None:
        super().__init__(env)
        self._family = env
        self.observation_space = spaces.Dict(
            {"observation": env.observation_space, "variant": spaces.Discrete(len(env.task.family))}
        )

    def observation(self, observation: Any) -> dict[str, Any]:
        """Return the observation with the number of the variant."""
        return {"observation": observation, "variant": self._family.playing}


def make_family(task: Task, build: Callable[[Task], AnyEnv]) -> AnyEnv:
    """Build the environment of a task with variants.

    Args:
        task: The task with variants.
        build: Builds the environment of one variant's task.

    Raises:
        UsageError: One policy cannot play all variants.
    """
    task.validate()
    family = Family(task, build)
    try:
        key = (repr(task), type(family.unwrapped))  # a notebook may redefine the class
        if key not in _AGREED:
            family.agree()
            _AGREED[key] = family.observation_space
        family.observation_space = _AGREED[key]
    except BaseException:
        family.close()
        raise
    return ShownVariant(family) if task.show_variant else family


_AGREED: dict[tuple[str, type[Any]], AnySpace] = {}
"""Observation spaces of families built in this process, so that all variants are compared only once."""


def family_of(env: AnyEnv) -> Family | None:
    """Return the family among an environment's wrappers; None if there is none."""
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, Family):
            return env
        env = env.env
    return None


def members_of(env: AnyEnv) -> Sequence[AnyEnv]:
    """Return the environments of a family, or the environment alone."""
    family = family_of(env)
    return family.all_members() if family is not None else [env]


def longest(env: AnyEnv) -> int | None:
    """Return the time limit of an environment in steps, for a family the longest; None if any has none."""
    limits = [member.spec.max_episode_steps if member.spec else None for member in members_of(env)]
    return None if None in limits else max(filter(None, limits))


def union_of(a: AnySpace, b: AnySpace) -> AnySpace | None:
    """Return a space that holds the values of both spaces; None if their values differ in type or shape.

    Bounds may differ, since a policy sees values and not bounds.
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
