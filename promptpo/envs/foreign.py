"""Adapt environments of other libraries, or with another ``reset`` and ``step``; refuse the rest in one sentence."""

from __future__ import annotations

import contextlib
import functools
import inspect
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec, load_env_creator

from promptpo.envs.extras import PACKAGES
from promptpo.errors import UsageError

AnyEnv = gymnasium.Env[Any, Any]

SEEDED = {"gymnasium", *(extra.module for extra in PACKAGES)}
"""Packages whose environments follow Gymnasium's interface and repeat by seed."""

OLD_STEP = 4
"""Number of values that ``step`` returned before Gym 0.26."""

CALLED = "()"
"""Suffix of the name of a function that builds an environment; without it, only environment classes are called."""


VECTOR = (
    "is a vector environment; name the single environment that it is made of, since promptpo itself runs many in "
    "parallel, or a function that wraps one of its copies (docs/guides/environments.md has one)."
)
"""Refusal of an environment that steps several copies at once."""


def is_environment(value: Any) -> bool:
    """Return whether a value is an environment class, of Gymnasium or not."""
    return isinstance(value, type) and all(callable(getattr(value, m, None)) for m in ("reset", "step"))


def builder_of(made_by: Any, name: str, *, called: bool = True) -> Callable[..., AnyEnv]:
    """Return a callable that builds an environment for Gymnasium.

    Args:
        made_by: A class, or a function that returns an environment.
        name: The name that the user gave.
        called: Whether it may be called although it is no environment class.

    Raises:
        UsageError: It is an environment already, is not callable, or is no environment class and may not be called.
    """
    if isinstance(made_by, type) and issubclass(made_by, gymnasium.Env):
        return made_by
    if isinstance(made_by, gymnasium.Env):
        raise UsageError(
            f"{name} is an environment object; name its class, or a function that builds it, since several copies are needed."
        )
    if not callable(made_by):
        raise UsageError(f"{name} is {made_by!r}, which builds no environment; name a class or a function.")
    if not (called or is_environment(made_by)):
        kind = "a class without reset and step" if isinstance(made_by, type) else "a function"
        raise UsageError(
            f"{name} is {kind} and not a subclass of gymnasium.Env, so it is not called; "
            f"if it builds an environment, add brackets: {name}{CALLED} (to resume a run that started without them, "
            "add them in its config.toml and pass --trust)."
        )
    return functools.partial(_build, made_by, name)


def _build(made_by: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> AnyEnv:
    return as_gymnasium(made_by(*args, **kwargs), name)


def as_gymnasium(env: Any, name: str) -> AnyEnv:
    """Return the environment as an instance of `gymnasium.Env`; one of Gym, or without a base class, is made one.

    Raises:
        UsageError: It is of a kind that a single policy cannot play; the message says what to do.
    """
    if isinstance(env, gymnasium.Env):
        return env
    packages = {cls.__module__.partition(".")[0] for cls in type(env).__mro__}
    if "pettingzoo" in packages:
        raise UsageError(
            f"{name} is a PettingZoo environment with several agents, and a policy controls one: write a gymnasium.Env "
            "in which a fixed rule controls the others, and name that (docs/guides/environments.md has one)."
        )
    if isinstance(env, gymnasium.vector.VectorEnv) or hasattr(env, "single_action_space"):
        raise UsageError(f"{name} {VECTOR}")
    if not all(hasattr(env, name) for name in ("reset", "step", "action_space", "observation_space")):
        raise UsageError(
            f"{name} is or returns a {type(env).__name__}, which is not a gymnasium.Env; inherit from it, or write a function that "
            "wraps it into one (shimmy has wrappers for dm_control, OpenSpiel and others)."
        )
    for layer in {id(layer): layer for layer in (env, getattr(env, "unwrapped", env))}.values():
        kind = type(layer)
        body = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
        # its attributes, source and documentation stay, and Gymnasium accepts it
        layer.__class__ = type(kind.__name__, (kind, gymnasium.Env), body)
    adapted: AnyEnv = env
    return adapted


@contextlib.contextmanager
def seed_globals(seed: int) -> Iterator[None]:
    """Seed the process's global generators inside, and restore them afterwards."""
    numpys: Any = np.random
    outer, bits = random.getstate(), numpys.get_bit_generator()
    random.seed(seed)
    numpys.set_bit_generator(np.random.MT19937(seed))
    try:
        yield
    finally:
        random.setstate(outer)
        numpys.set_bit_generator(bits)


def gym_spec(name: str) -> EnvSpec | None:
    """Return how to build an environment that is registered with Gym; None if the id is unknown there."""
    gym: Any = sys.modules.get("gym")
    found = gym.envs.registration.registry.get(name) if gym is not None else None
    if found is None or found.entry_point is None:
        return None
    entry = functools.partial(_build_registered, found.entry_point, name)
    steps, threshold, kwargs = found.max_episode_steps, found.reward_threshold, dict(found.kwargs or {})
    return EnvSpec(name, entry, threshold, max_episode_steps=steps, kwargs=kwargs)


def _build_registered(made_by: Any, name: str, **kwargs: Any) -> AnyEnv:
    """Build an environment registered with Gym; its module is imported only now, and may be missing."""
    return builder_of(load_env_creator(made_by) if isinstance(made_by, str) else made_by, name)(**kwargs)


def without_notices() -> None:
    """Suppress Gym's notice that it is unmaintained."""
    with contextlib.suppress(ImportError):
        from gym_notices import notices

        notices.notices.clear()


def adapt(env: AnyEnv) -> AnyEnv:
    """Put an `AdaptedEnv` around the author's environment, inside all wrappers, unless its package needs none."""
    outer, base = None, env
    while isinstance(base, gymnasium.Wrapper):
        outer, base = base, base.env
    if type(base.unwrapped).__module__.partition(".")[0] in SEEDED:
        return env
    inner = AdaptedEnv(base)
    if outer is None:
        return inner
    outer.env = inner
    return env


class AdaptedEnv(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Adapt an environment to Gymnasium's interface, and make episodes repeat by seed.

    ``reset`` may take a seed, options, both or none and may return an observation alone; ``step`` may return
    (observation, reward, done, info). A reset with a seed seeds all generators that the environment uses.

    Args:
        env: The environment as its author wrote it.
    """

    def __init__(self, env: AnyEnv) -> None:
        from promptpo.envs.randomness import Generators

        super().__init__(env)
        taken = inspect.signature(env.reset).parameters.values()
        every = any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken)
        names = {parameter.name for parameter in taken if parameter.kind is not parameter.POSITIONAL_ONLY}
        self._takes = [keyword for keyword in ("seed", "options") if every or keyword in names]
        self._seed_method = None if "seed" in self._takes else _find_seed_method(env)
        self._generators = Generators(env)
        with contextlib.suppress(AttributeError):  # missing spaces are reported later
            self.observation_space = standard_space(env.observation_space)
            self.action_space = standard_space(env.action_space)

    @property
    def takes_seed(self) -> bool:
        """Whether the environment itself accepts seeds."""
        return "seed" in self._takes or self._seed_method is not None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begin an episode."""
        given: dict[str, Any] = {"seed": seed, "options": options}
        with self._generators:
            if seed is not None:
                self._generators.seed(seed)
                if self._seed_method is not None:
                    self._seed_method(seed)
            result = self.env.reset(**{keyword: given[keyword] for keyword in self._takes})
        if isinstance(result, tuple) and not (
            isinstance(self.observation_space, spaces.Tuple) and self.observation_space.contains(result)
        ):
            return result
        return result, {}

    def step(self, action: Any) -> Any:
        """Take a step."""
        with self._generators:
            result: Any = self.env.step(action)
        if isinstance(result, tuple) and len(result) == OLD_STEP:
            observation, reward, done, info = result
            info = info if isinstance(info, dict) else {}
            cut = bool(info.get("TimeLimit.truncated", False))
            return observation, reward, bool(done) and not cut, bool(done) and cut, info
        return result


def _find_seed_method(env: Any) -> Callable[[int], Any] | None:
    """Return the environment's ``seed`` method if its author wrote one; else None."""
    method = getattr(env.unwrapped, "seed", None)
    module = getattr(method, "__module__", None) or ""
    return method if callable(method) and module.partition(".")[0] not in {"gym", "gymnasium"} else None


def standard_space(space: Any) -> Any:
    """Convert a space of Gym to Gymnasium's; return any other unchanged."""
    kinds = {base.__name__ for base in type(space).__mro__ if base.__module__.partition(".")[0] == "gym"}
    if "Box" in kinds:
        return spaces.Box(space.low, space.high, space.shape, space.dtype.type)
    if "Discrete" in kinds:
        return spaces.Discrete(int(space.n), start=int(getattr(space, "start", 0)))
    if "MultiDiscrete" in kinds:
        return spaces.MultiDiscrete(space.nvec)
    if "MultiBinary" in kinds:
        return spaces.MultiBinary(space.n)
    if "Dict" in kinds:
        return spaces.Dict({key: standard_space(part) for key, part in space.spaces.items()})
    return spaces.Tuple([standard_space(part) for part in space.spaces]) if "Tuple" in kinds else space


def layers_of(env: Any) -> list[Any]:
    """Return an environment and the environments inside its wrappers and adapters, outermost first."""
    found: list[Any] = []
    while env is not None and all(env is not layer for layer in found):
        found.append(env)
        held = getattr(env, "__dict__", {})
        env = held.get("env") or held.get("_env") or held.get("gym_env")
        # a simulator may have step and reset as well, but has no actions of its own
        has_actions = hasattr(env, "action_space") or hasattr(env, "action_spec")
        env = env if has_actions and hasattr(env, "step") and hasattr(env, "reset") else None
    return found


def innermost(env: Any) -> Any:
    """Return the innermost environment, the author's own, also inside an adapter for Gym."""
    return layers_of(env)[-1]
