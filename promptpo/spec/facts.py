"""Facts about a task that need no documentation: horizon, reward threshold and success key."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from promptpo.envs.family import family_of, members_of
from promptpo.envs.foreign import AnyEnv

if TYPE_CHECKING:
    from promptpo.envs.task import Task
    from promptpo.spec.observe import EpisodeEnd, Observed, Step

HorizonSource = Literal["user", "time limit", "observed", "environment", "spec file", "none"]
"""The origin of the horizon: --max-episode-steps, the registered time limit, the common length of truncated
episodes, an attribute of the environment (``max_steps``), the user's spec file, or none."""

ATTRIBUTES = ("max_steps", "max_episode_steps", "_max_episode_steps", "max_episode_length", "episode_length")
"""Names of step limits in environments that count their own steps; believed only of those that were not observed."""

SUCCESS_KEYS = ("success", "is_success")
"""Keys under which environments report success in ``info``."""


def reward_threshold(env: AnyEnv) -> float | None:
    """Return the registered reward threshold, for a family the one that all its variants share; None if there is none."""
    found = {member.spec.reward_threshold if member.spec else None for member in members_of(env)}
    return found.pop() if len(found) == 1 else None


def success_key(steps: Sequence[Step]) -> str | None:
    """Return the key under which ``info`` reports success; None if it does not."""
    return next((key for key in SUCCESS_KEYS if key in steps[-1].info), None)


def horizon_and_source(
    env: AnyEnv, task: Task | None = None, observed: Observed | None = None
) -> tuple[int | None, HorizonSource]:
    """Return the longest episode in steps and the origin of the limit; (None, "none") if unbounded.

    Args:
        env: The environment, with its wrappers.
        task: The task, which says whether the user set a limit.
        observed: Observed episodes.
    """
    family = family_of(env)
    if family is not None:  # each episode has its own variant's limit; the longest bounds them all
        found = [horizon_and_source(member, task) for member in family.all_members()]
        return max(found, key=lambda each: math.inf if each[0] is None else each[0])
    limit = env.spec.max_episode_steps if env.spec else None
    endings = () if observed is None else observed.endings
    longest = max((ending.steps for ending in endings), default=0)
    origin: HorizonSource = "user" if task is not None and limit == task.max_episode_steps else "time limit"
    stated: list[tuple[int | None, HorizonSource]] = [(limit, origin), (common_length(endings), "observed")]
    if observed is None or observed.counters is None:
        held = (getattr(env.unwrapped, name, None) for name in ATTRIBUTES)
        stated.append((next((n for n in held if isinstance(n, int) and n > 0), None), "environment"))
    elif not any(n for n, _ in stated):
        stated.append((observed.counters.limit(observed.called), "environment"))
    bounds = [(n, by) for n, by in stated if n is not None and n >= longest]  # an exceeded limit is none
    return min(bounds, key=lambda bound: bound[0], default=(None, "none"))


def common_length(endings: Sequence[EpisodeEnd]) -> int | None:
    """Return the length that all truncated episodes share; None if there is none or an episode was longer."""
    longest = max((ending.steps for ending in endings), default=0)
    return longest if {ending.steps for ending in endings if ending.truncated} == {longest} else None
