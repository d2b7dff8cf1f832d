"""What a spec says of wrappers that the user put around the environment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gymnasium

from promptpo.spec.documentation import first_line

if TYPE_CHECKING:
    from promptpo.envs.task import Task
    from promptpo.spec.parts import Parts


def with_wrappers(parts: Parts, env: gymnasium.Env[Any, Any], task: Task) -> Parts:
    """The parts with a sentence where a wrapper of the user may change what the environment itself says.

    Documentation and source are those of the environment inside; what a wrapper makes of an observation or a
    reward is known from its own documentation alone.
    """
    names = {wrapping.name.rpartition(":")[2].rpartition(".")[2] for wrapping in task.wrappers}
    told = list[str]()
    while isinstance(env, gymnasium.Wrapper):
        kind, said = type(env), first_line(type(env).__doc__).rstrip(" ,;:.")
        if kind.__name__ in names:
            told.insert(0, f"{kind.__name__}{f' ({said})' if said else ''}")
        env = env.env
    if not told:
        return parts
    note = f"Around the environment is {', in '.join(told)}: it may change observations and rewards; meanings and code are those of the environment inside."
    return replace(parts, observation_note="\n".join(filter(None, [note, parts.observation_note])))
