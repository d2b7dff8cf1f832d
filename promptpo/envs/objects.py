"""Accept environments as Python objects: a class, a function, or an environment itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium
from gymnasium.envs.registration import EnvSpec

from promptpo.envs.foreign import CALLED, as_gymnasium, builder_of, is_environment
from promptpo.envs.importing import import_users_module
from promptpo.envs.task import OBJECTS, Task, Variant, Wrapping, label_of
from promptpo.errors import UsageError

EnvLike: TypeAlias = str | Callable[..., Any] | gymnasium.Env[Any, Any]
"""An environment: its id or name, a class, a function that builds one, or an instance."""

WrapperLike: TypeAlias = str | Callable[..., Any] | tuple[Any, Mapping[str, Any]] | Wrapping
"""A wrapper: its name, as for ``--wrapper``; a class; or a pair of either and its keyword arguments."""


def task_of(
    env: EnvLike,
    env_kwargs: Mapping[str, Any] | None = None,
    max_episode_steps: int | None = None,
    *,
    wrappers: Iterable[WrapperLike] = (),
    variants: Iterable[Mapping[str, Any] | Variant] = (),
    held_out: Iterable[Mapping[str, Any] | Variant] = (),
    show_variant: bool = False,
) -> Task:
    """Create a task from an environment in any form of `EnvLike`.

    Raises:
        UsageError: An object cannot be copied to the workers, the variants are inconsistent, or an argument has the
            wrong type.
    """
    if env_kwargs is not None and not isinstance(env_kwargs, Mapping):
        raise UsageError(f"env_kwargs must be a mapping, not {env_kwargs!r}.")
    for name, several in {"wrappers": wrappers, "variants": variants, "held_out": held_out}.items():
        if isinstance(several, str | Mapping) or not isinstance(several, Iterable):
            raise UsageError(f"{name} must be a list, not {several!r}.")
    return Task(
        register_object(env),
        env_kwargs or {},
        max_episode_steps,
        tuple(_wrapping(wrapper) for wrapper in wrappers),
        tuple(_variant(variant) for variant in variants),
        tuple(_variant(variant) for variant in held_out),
        show_variant,
    ).validate()


def register_object(env: EnvLike) -> str:
    """Return a name by which other processes can build the environment.

    Importable objects are named ``module:Class``. Anything else is registered with Gymnasium in this process under its
    own id, and copied to the workers by value.

    Raises:
        UsageError: It builds no environment, or cannot be copied.
    """
    if isinstance(env, str):
        return complete_name(env)
    found = _importable(env)
    if found is not None:
        return found
    if not callable(env):
        env = as_gymnasium(env, f"the object passed as the environment, {env!r},")
        name = type(env.unwrapped).__name__
        entry: Callable[..., Any] = _Copies(_pickle(env, name), name)
    else:
        name = getattr(env, "__name__", type(env).__name__).strip("<>")
        entry = builder_of(env, name)
    spec = EnvSpec(f"{OBJECTS}{name}-v0", entry_point=entry)
    _pickle(spec, name)
    gymnasium.registry[spec.id] = spec
    return spec.id


def complete_name(env_id: str) -> str:
    """Complete the name of a file or package in the working directory with the one environment in it.

    ``depot`` and ``depot.py`` become ``depot:Depot`` and ``depot.py:Depot``, ``depot.Depot`` becomes ``depot:Depot``; any
    other name is returned unchanged.

    Raises:
        UsageError: It has several environments or none, or cannot be imported.
    """
    inside, _, name = env_id.rpartition(".")
    if ":" in env_id or env_id in gymnasium.registry:
        return env_id
    if Path(f"{inside}.py").is_file() and name != "py":
        return f"{inside}:{name}"
    package = (Path(env_id) / "__init__.py").is_file()
    module = ".".join(Path(env_id).parts) if package else env_id
    if not (package or Path(env_id if env_id.endswith(".py") else f"{env_id}.py").is_file()):
        return env_id
    loaded = import_users_module(module, env_id)
    own = [
        value
        for value in vars(loaded).values()
        if is_environment(value)
        and f"{value.__module__}.".startswith(f"{loaded.__name__}.")
        and not issubclass(value, gymnasium.Wrapper)
    ]
    last = [kind.__name__ for kind in own if not any(kind in other.__mro__[1:] for other in own)]
    if len(last) == 1:
        return f"{module}:{last[0]}"
    has = "no environment" if not last else f"the environments {', '.join(last)}"
    raise UsageError(f"{env_id} has {has}; name the one to use: {module}:{(last or ['YourEnv'])[0]}.")


def same_environment(task: Task, env: EnvLike) -> None:
    """Register the environment object of an existing run.

    Raises:
        UsageError: The run has another environment.
    """
    name = register_object(env)
    if name != task.env_id:
        raise UsageError(
            f"the run has the environment {task.label}, not {label_of(name)}; pass the environment that it started with."
        )


@dataclass(frozen=True)
class _Copies:
    """Builder that returns copies of one environment."""

    pickled: bytes
    name: str

    def __call__(self, render_mode: str | None = None, **kwargs: Any) -> gymnasium.Env[Any, Any]:
        import cloudpickle

        env: gymnasium.Env[Any, Any] = cloudpickle.loads(self.pickled)
        if kwargs or (render_mode is not None and env.render_mode != render_mode):
            raise UsageError(
                f"{self.name} is already built and takes no arguments ({', '.join(kwargs) or 'render_mode'}); pass its class, or a function that "
                "builds it."
            )
        return env


def _pickle(value: Any, name: str) -> bytes:
    import cloudpickle

    try:
        pickled: bytes = cloudpickle.dumps(value)
    except Exception as fault:
        raise UsageError(
            f"{name} cannot be copied into the processes that play episodes ({type(fault).__name__}: {fault}); give "
            "its class, or a function that builds it, as module:Class where a module has it."
        ) from fault
    return pickled


def _importable(value: Any) -> str | None:
    """Return ``module:Class`` or ``module:function()`` for an importable object; None for any other."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or module == "__main__":
        return None
    found: Any = sys.modules.get(module)
    if found is None or getattr(found, "__spec__", None) is None:
        return None
    for part in name.split("."):
        found = getattr(found, part, None)
    brackets = "" if isinstance(value, type) and issubclass(value, gymnasium.Env) else CALLED
    return f"{module}:{name}{brackets}" if found is value else None


def _wrapping(wrapper: WrapperLike) -> Wrapping:
    if isinstance(wrapper, Wrapping):
        return wrapper
    if isinstance(wrapper, str):
        return Wrapping.parse(wrapper)
    made_by, kwargs = wrapper if isinstance(wrapper, tuple) else (wrapper, {})
    name = made_by if isinstance(made_by, str) else _importable(made_by)
    if name is None:
        raise UsageError(
            f"the wrapper {getattr(made_by, '__name__', made_by)} is in no module that other processes can import; "
            "put it into one, or give the environment as a function that wraps it."
        )
    return Wrapping(name, kwargs)


def _variant(variant: Mapping[str, Any] | Variant) -> Variant:
    if not isinstance(variant, Variant | Mapping):
        raise UsageError(f"a variant is a mapping of keyword arguments to values, not {variant!r}.")
    return variant if isinstance(variant, Variant) else Variant(variant)
