"""What a spec says of wrappers that the user put around the environment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gymnasium

from promptpo.spec.documentation import first_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptpo.envs.task import Task
    from promptpo.spec.parts import Parts


def with_wrappers(parts: Parts, env: gymnasium.Env[Any, Any], task: Task) -> Parts:
    """The parts with a sentence where a wrapper of the user changes what the environment itself says.

    Documentation and source are those of the environment inside; what a wrapper makes of an observation or a
    reward is known from its own documentation alone.
    """
    observations, rewards = [], []
    for wrapper in _users(env, task):
        kind, said = type(wrapper), first_line(type(wrapper).__doc__ or "").rstrip(" ,;:.")
        words = f"{kind.__name__}{f' ({said})' if said else ''}"
        own = {name for cls in kind.__mro__ if cls.__module__ != "gymnasium.core" for name in vars(cls)}
        if own & {"observation", "reset", "step"}:
            observations.append(words)
        if own & {"reward", "step"}:
            rewards.append(words)
    note = (
        f"Around the environment is {', in '.join(observations)}: observations are what that gives."
        if observations
        else ""
    )
    told = f"This is the reward inside {', in '.join(rewards)}, which may change it." if rewards else ""
    return replace(
        parts,
        observation_note="\n".join(filter(None, [note, parts.observation_note])),
        reward_text="\n".join(filter(None, [told, parts.reward_text])),
    )


def _users(env: gymnasium.Env[Any, Any], task: Task) -> Iterator[gymnasium.Env[Any, Any]]:
    """The wrappers that the task names, the innermost first."""
    chain = []
    while isinstance(env, gymnasium.Wrapper):
        chain.append(env)
        env = env.env
    names = {wrapping.name.rpartition(":")[2].rpartition(".")[2] for wrapping in task.wrappers}
    yield from (wrapper for wrapper in reversed(chain) if type(wrapper).__name__ in names)
