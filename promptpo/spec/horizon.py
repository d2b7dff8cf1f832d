"""How long an episode may become, and who says so."""

from __future__ import annotations

import ast
import math
import re
from typing import TYPE_CHECKING, Any, Literal

from promptpo.envs.family import family_of
from promptpo.spec.documentation import docstring_of
from promptpo.spec.folding import folded
from promptpo.spec.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import gymnasium

    from promptpo.envs.task import Task

HorizonSource = Literal["user", "time limit", "environment", "source", "documentation", "spec file", "none"]
"""Who bounds an episode: the user's --max-episode-steps, the registered time limit, an attribute that the
environment keeps (``max_steps``), the condition in its ``step``, its documentation, the user's spec file."""

ATTRIBUTES = ("max_steps", "max_episode_steps", "_max_episode_steps", "max_episode_length", "episode_length")
"""What environments that count their steps themselves call the limit."""


def horizon_of(env: gymnasium.Env[Any, Any]) -> int | None:
    """Longest episode in steps; None where nothing bounds it."""
    return horizon_and_source(env)[0]


def horizon_and_source(
    env: gymnasium.Env[Any, Any], task: Task | None = None
) -> tuple[int | None, HorizonSource]:
    """Longest episode in steps, and who says so; (None, "none") where nothing bounds it.

    Args:
        env: The environment, with its wrappers.
        task: Whether the user set a limit.
    """
    family = family_of(env)
    if family is not None:  # episodes end by the limit of their own variant; the longest bounds all
        found = [horizon_and_source(one, task) for one in family.everyone()]
        return max(found, key=lambda each: math.inf if each[0] is None else each[0])
    limit = env.spec.max_episode_steps if env.spec else None
    own = next(_own_limits(env.unwrapped), None)
    if limit is not None and (own is None or limit <= own):
        return limit, "user" if task is not None and limit == task.max_episode_steps else "time limit"
    if own is not None:
        return own, "environment"
    counted = _counted(env.unwrapped)
    if counted is not None:
        return counted, "source"
    told = told_length(docstring_of(type(env.unwrapped)))
    return (told, "documentation") if told is not None else (None, "none")


def _own_limits(env: gymnasium.Env[Any, Any]) -> Iterator[int]:
    config = getattr(env, "config", None)
    if (
        isinstance(config, dict) and {"duration", "policy_frequency"} <= config.keys()
    ):  # highway-env, in seconds
        yield round(config["duration"] * config["policy_frequency"])
    for name in ATTRIBUTES:
        value = getattr(env, name, None)
        if isinstance(value, int) and value > 0:
            yield value


_STEPS = re.compile(r"\b(\d[\d,_]*) (?:time[- ]?|environment |control )?steps?\b")
_BOUND = re.compile(
    r"\b(?:lasts?|takes?|long|length|limit(?:ed)?|at most|up to|maximum|truncat\w+|ends?|stops?|over|runs?)\b"
)
_LENGTH = re.compile(r"[Ee]pisode length (?:is )?(?:greater than |at most |of )?(\d+)")


def told_length(text: str) -> int | None:
    """How long a documentation says that an episode lasts; None where it says nothing, or two things."""
    found = {int(number) for number in _LENGTH.findall(text)}
    for sentence in re.split(r"(?<=[.;!?])\s+|\n\s*\n", text):
        plain = " ".join(sentence.split())
        if re.search(r"\bepisodes?\b", plain, re.IGNORECASE) and _BOUND.search(plain):
            found |= {int(re.sub(r"[,_]", "", number)) for number in _STEPS.findall(plain)}
    return found.pop() if len(found) == 1 else None


_REACHED: Mapping[type[ast.cmpop], Any] = {ast.GtE: lambda n: n, ast.Gt: lambda n: n + 1, ast.Eq: lambda n: n}


def _counted(env: gymnasium.Env[Any, Any]) -> int | None:
    """The number in ``self.steps >= 200``, where ``step`` adds one to it and returns this as an end."""
    source = Source(env)
    method = source.method("step")
    if method is None:
        return None
    step = folded(method, source)
    counters = {  # what is counted under a condition, such as a stage that was reached, counts no steps
        ast.unparse(node.target)
        for node in step.body
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and ast.unparse(node.value) == "1"
    }
    values = {
        ast.unparse(node.targets[0]): node.value
        for node in ast.walk(step)
        if isinstance(node, ast.Assign) and len(node.targets) == 1
    }
    limits = set()
    for node in ast.walk(step):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
            for ending in node.value.elts[2:4]:
                limits |= set(_limits(values.get(ast.unparse(ending), ending), counters))
    return min(limits, default=None)


def _limits(condition: ast.expr, counters: set[str]) -> Iterator[int]:
    """Limits on counters that suffice for a condition: alone, or as one of several that are joined by "or"."""
    if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.Or):
        for value in condition.values:
            yield from _limits(value, counters)
    elif isinstance(condition, ast.Call) and ast.unparse(condition.func) == "bool" and condition.args:
        yield from _limits(condition.args[0], counters)
    elif isinstance(condition, ast.Compare) and len(condition.ops) == 1:
        reached, limit = _REACHED.get(type(condition.ops[0])), condition.comparators[0]
        number = limit.value if isinstance(limit, ast.Constant) else None
        if reached and ast.unparse(condition.left) in counters and isinstance(number, int) and number > 0:
            yield reached(number)
