"""What builds an environment, and environments of other libraries: adapted where a layer exists, else one sentence."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import gymnasium

from promptpo.errors import MissingExtraError, UsageError

CALLED = "()"
"""The name of a function that builds an environment ends so: what is no environment's class is called only where that was asked for."""


def builder_of(made_by: Any, name: str, *, called: bool = True) -> Callable[..., gymnasium.Env[Any, Any]]:
    """Return what Gymnasium may call for an environment.

    Args:
        made_by: A class, or a function that returns an environment.
        name: What the user called it.
        called: Whether it may be called although it is no environment's class.

    Raises:
        UsageError: It is an environment already, cannot be called, or is no environment's class and may not be called.
    """
    if isinstance(made_by, type) and issubclass(made_by, gymnasium.Env):
        return made_by
    if isinstance(made_by, gymnasium.Env):
        raise UsageError(
            f"{name} is an environment; name its class, or a function that builds it, so that there can be several."
        )
    if not callable(made_by):
        raise UsageError(f"{name} is {made_by!r}, which builds no environment; name a class or a function.")
    packages = {cls.__module__.partition(".")[0] for cls in getattr(made_by, "__mro__", ())}
    if not called and packages.isdisjoint({"gym", "pettingzoo"}):
        kind = "a class" if isinstance(made_by, type) else "a function"
        raise UsageError(
            f"{name} is {kind} and no subclass of gymnasium.Env, so it is not called; "
            f"if it builds an environment, say so by brackets: {name}{CALLED}"
        )
    return functools.partial(_build, made_by, name)


def _build(made_by: Callable[..., Any], name: str, **kwargs: Any) -> gymnasium.Env[Any, Any]:
    return as_gymnasium(made_by(**kwargs), name)


def as_gymnasium(env: Any, name: str) -> gymnasium.Env[Any, Any]:
    """The environment as Gymnasium's kind; one of Gym goes through shimmy's layer.

    Raises:
        UsageError: It is of a kind that one policy does not play; the sentence says what to do.
        MissingExtraError: shimmy is not installed.
    """
    if isinstance(env, gymnasium.Env):
        return env
    if isinstance(env, gymnasium.vector.VectorEnv):
        raise UsageError(
            f"{name} is a vector environment; a policy acts in one environment, and many run at a time by "
            "themselves: name what it is made of."
        )
    packages = {cls.__module__.partition(".")[0] for cls in type(env).__mro__}
    if "pettingzoo" in packages:
        raise UsageError(
            f"{name} is a PettingZoo environment of several agents, and a policy is one agent: write a gymnasium.Env "
            "in which the others act by a rule of yours, and name that (docs/guides/environments.md has one)."
        )
    if "gym" in packages:
        return _from_gym(env, name)
    raise UsageError(
        f"{name} is or gives a {type(env).__name__}, which is no gymnasium.Env; inherit from it, or write a function that "
        "wraps it into one (shimmy has layers for dm_control, OpenSpiel and others)."
    )


def _from_gym(env: Any, name: str) -> gymnasium.Env[Any, Any]:
    try:
        import shimmy
    except ImportError as error:
        raise MissingExtraError(
            f'{name} is written for Gym, the forerunner of Gymnasium; shimmy adapts it: pip install "promptpo[gym]"'
        ) from error
    seeds = "seed" in inspect.signature(env.reset).parameters
    layer = shimmy.GymV26CompatibilityV0 if seeds else shimmy.GymV21CompatibilityV0
    inner = type(getattr(env, "unwrapped", env))
    # named and documented as what is inside, so that a spec tells of that and not of the layer
    named = type(inner.__name__, (layer,), {"__doc__": inner.__doc__, "__module__": inner.__module__})
    adapted: gymnasium.Env[Any, Any] = named(env=env)
    return adapted
