"""Facts about a task that need no documentation: its spaces, and how long an episode may become."""

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
"""Who bounds an episode: the user's --max-episode-steps, the registered time limit, the common length of episodes
that were truncated, an attribute that the environment keeps (``max_steps``), the
user's spec file."""

ATTRIBUTES = ("max_steps", "max_episode_steps", "_max_episode_steps", "max_episode_length", "episode_length")
"""What environments that count their steps themselves call the limit."""

SUCCESS_KEYS = ("success", "is_success")
"""Names under which ``info`` reports success, in the packages that report it."""


def reward_threshold(env: AnyEnv) -> float | None:
    """The registered threshold; of a family the one that all its variants share."""
    found = {member.spec.reward_threshold if member.spec else None for member in members_of(env)}
    return found.pop() if len(found) == 1 else None


def success_key(steps: Sequence[Step]) -> str | None:
    """The name under which ``info`` reports success; None where it does not."""
    return next((key for key in SUCCESS_KEYS if key in steps[-1].info), None)


def horizon_and_source(
    env: AnyEnv, task: Task | None = None, observed: Observed | None = None
) -> tuple[int | None, HorizonSource]:
    """Longest episode in steps, and who says so; (None, "none") where nothing bounds it.

    Args:
        env: The environment, with its wrappers.
        task: Whether the user set a limit.
        observed: Episodes that were played.
    """
    family = family_of(env)
    if family is not None:  # episodes end by the limit of their own variant; the longest bounds all
        found = [horizon_and_source(member, task) for member in family.all_members()]
        return max(found, key=lambda each: math.inf if each[0] is None else each[0])
    limit = env.spec.max_episode_steps if env.spec else None
    endings = () if observed is None else observed.endings
    longest = max((ending.steps for ending in endings), default=0)
    who: HorizonSource = "user" if task is not None and limit == task.max_episode_steps else "time limit"
    counters = observed.counters if observed is not None else None
    names = (name for name in ATTRIBUTES if counters is None or name not in counters)
    held = (getattr(env.unwrapped, name, None) for name in names)
    own = next((n for n in held if isinstance(n, int) and n > 0), None)
    stated: list[tuple[int | None, HorizonSource]] = [
        (limit, who),
        (own, "environment"),
        (common_length(endings), "observed"),
    ]
    if counters is not None and not any(n for n, _ in stated):
        stated.append((counters.limit(), "environment"))
    bounds = [(n, by) for n, by in stated if n is not None and n >= longest]  # one that was passed is none
    return min(bounds, key=lambda bound: bound[0], default=(None, "none"))


def common_length(endings: Sequence[EpisodeEnd]) -> int | None:
    """The length at which all were truncated that were, if no episode was longer."""
    longest = max((ending.steps for ending in endings), default=0)
    return longest if {ending.steps for ending in endings if ending.truncated} == {longest} else None
