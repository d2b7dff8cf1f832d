"""Build a task's environment so that a seed repeats an episode, with errors of one sentence."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import textwrap
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import gymnasium
from gymnasium import error
from gymnasium.envs.registration import EnvSpec, load_env_creator

from promptpo.envs.closing import close_safely
from promptpo.envs.contract import blaming, first_line
from promptpo.envs.extras import PACKAGES, of_meta_world
from promptpo.envs.foreign import CALLED, VECTOR, adapt, builder_of, gym_spec, is_environment, seed_globals
from promptpo.envs.importing import (
    import_advertised,
    import_package,
    import_quietly,
    import_registering,
    import_users_module,
)
from promptpo.envs.spaces import as_array, check_spaces, with_standard_spaces
from promptpo.envs.task import OBJECTS, label_of
from promptpo.errors import (
    MissingExtraError,
    PromptPOError,
    UnknownEnvironmentError,
    UsageError,
    suggest,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

    from promptpo.envs.task import Task, Wrapping


BIPEDAL_WALKER = "gymnasium.envs.box2d.bipedal_walker"
"""Its state survives a reset."""

ATARI = re.compile(r"(ALE/)?(?P<game>[A-Z][A-Za-z]+?)(-ram|NoFrameskip|Deterministic)*-v[045]")
"""Ids of Atari games, with and without their namespace."""

SIMULATED = re.compile(r"gymnasium\.envs\.(box2d|mujoco)\b")
"""Modules of Gymnasium's environments whose simulator is an extra of the same name."""

REGISTERS = re.compile(r"register_(\w+_)?env(s|ironments)?")
"""Names of functions by which packages register their ids."""

MAX_NAMES_CHARS = 300
"""Characters of a list of the names in a module."""


def make_env(task: Task, *, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    """Build an environment whose episodes depend only on ``reset(seed=...)`` and the actions.

    Ids are Gymnasium's, including ``module:EnvId``, whose module may be in the working directory. Ids of Meta-World,
    MiniGrid, gymnasium-robotics and highway-env need no module; a Meta-World task may be given by its own name. A
    subclass of `gymnasium.Env` is ``module:Class`` or ``./file.py:Class``; a function that builds an environment ends
    in brackets: ``module:function()``. The passive environment checker is omitted, since it costs time at every step.
    The environment of a family plays the variant that the seed selects; see `Task.index_of`.

    Args:
        task: The id, its keyword arguments, the horizon, wrappers and variants.
        render_mode: As for ``gymnasium.make``.

    Raises:
        UnknownEnvironmentError: There is no such id; the message names similar ones.
        MissingExtraError: The environment's package is not installed; the message has the pip command.
        EnvironmentFaultError: The environment's constructor failed.
        UnsupportedSpaceError: Policies cannot handle one of its spaces.
        UsageError: A module or file cannot be imported, a wrapper does not exist, or the variants of a family
            have different spaces.
    """
    if task.is_family:
        from promptpo.envs.family import make_family

        return make_family(task, lambda single: make_env(single, render_mode=render_mode))
    env = _build(task, render_mode)
    close_safely(env, task.name)
    try:
        with _explain_errors(task):
            if type(env.unwrapped).__module__ == BIPEDAL_WALKER:
                from promptpo.envs.repeat import FreshWorld

                env = FreshWorld(env)
            for wrapping in task.wrappers:
                env = _wrap(env, wrapping, task.files)
            env = with_standard_spaces(env)
            check_spaces(env, task.name)
    except PromptPOError:
        env.close()
        raise
    return env


def adopt(entry: EnvSpec) -> None:
    """Register an environment as in another process, unless it is known here.

    Its package is imported first, since a later import would warn of a second registration.
    """
    for extra in PACKAGES:
        if str(entry.entry_point).startswith(f"{extra.module}."):
            import_quietly(extra.module, entry.id)
    gymnasium.registry.setdefault(entry.id, entry)


def _build(task: Task, render_mode: str | None) -> gymnasium.Env[Any, Any]:
    if of_meta_world(task.env_id):
        from promptpo.envs import meta_world

        meta_world_task = meta_world.task_name(task.env_id, task.env_kwargs)
        if meta_world_task is not None:
            import_package(PACKAGES[0], task.env_id)
            with _explain_errors(task):
                return meta_world.make(meta_world_task, task, render_mode)
    with seed_globals(0):  # random draws at import or construction must be the same in every process
        return _make(task, _resolve(task.env_id, task.files), render_mode)


def _make(task: Task, env_id: str | EnvSpec, render_mode: str | None) -> gymnasium.Env[Any, Any]:
    kwargs: dict[str, Any] = dict(task.env_kwargs)
    if render_mode is not None:
        kwargs["render_mode"] = render_mode
    with _explain_errors(task, env_id):
        env = gymnasium.make(
            env_id, max_episode_steps=task.max_episode_steps, disable_env_checker=True, **kwargs
        )
        return adapt(env)


@contextlib.contextmanager
def _explain_errors(task: Task, env_id: str | EnvSpec | None = None) -> Iterator[None]:
    """Turn exceptions of an environment's constructor into a `PromptPOError`.

    Args:
        task: The environment's task.
        env_id: The environment constructed inside, to list its arguments; None if there is none.
    """
    with blaming(f"building the environment {task.name}"):
        try:
            yield
        except (error.DependencyNotInstalled, ImportError) as fault:
            raise _missing_package(task, fault) from fault
        except TypeError as fault:
            message, by_gymnasium, _ = str(fault).partition(" was raised from the environment creator for ")
            if not by_gymnasium:
                raise
            if wrong := re.search(
                r"required (?:positional|keyword-only) argument|unexpected keyword argument '(?!render_mode)(.*)'",
                message,
            ):
                names = _argument_names(env_id) if env_id else []
                near = suggest(wrong[1] or "", names)
                message += f"; {f'{near} It' if near else 'it'} takes {', '.join(names) or 'no arguments'}"
                message += f", passed as --env-kwargs {names[0]}=VALUE" if names else ""
            raise TypeError(message) from fault


def _argument_names(env_id: str | EnvSpec) -> list[str]:
    """Return the names of the arguments that an environment's builder accepts."""
    entry: Any = gymnasium.spec(env_id).entry_point if isinstance(env_id, str) else env_id.entry_point
    entry = entry.args[0] if isinstance(entry, functools.partial) else entry
    made_by = load_env_creator(entry) if isinstance(entry, str) else entry
    return [
        each.name
        for each in inspect.signature(made_by).parameters.values()
        if each.kind in {each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY}
        and (each.name != "render_mode" or each.default is each.empty)
    ]


def _resolve(env_id: str, files: Sequence[str] | None) -> str | EnvSpec:
    """Return a registered id, or a specification that builds a class or function, for `gymnasium.make`."""
    module, _, name = env_id.rpartition(":")
    if not name:
        raise UsageError("the environment's id is empty; name one as Gymnasium writes it: CartPole-v1.")
    if name.endswith(".py"):
        raise UsageError(
            f"there is no file {env_id}; name a file and the class or function in it: {env_id}:YourEnv."
        )
    loaded = import_users_module(module, env_id, files) if module else None
    if loaded is not None and name not in gymnasium.registry and not hasattr(loaded, name.removesuffix("()")):
        _register_by_call(loaded, env_id)
    if loaded is not None and name not in gymnasium.registry and (old := gym_spec(name)) is not None:
        return old
    if loaded is not None and name not in gymnasium.registry:
        called, name = name.endswith(CALLED), name.removesuffix(CALLED)
        made_by = builder_of(_attribute(loaded, name, env_id), env_id.removesuffix(CALLED), called=called)
        return EnvSpec(name.rpartition(".")[2], entry_point=made_by)
    for bring in (import_advertised, import_registering):
        if name not in gymnasium.registry:
            bring(name)
    if name not in gymnasium.registry:
        raise UnknownEnvironmentError(_explain_unknown(name))
    if gymnasium.registry[name].entry_point is None:
        raise UsageError(f"{env_id} {VECTOR}")
    return name


def _register_by_call(loaded: ModuleType, asked: str) -> None:
    """Call functions such as ``register_envs()`` that some packages need before Gymnasium knows their ids."""
    package = loaded.__name__.partition(".")[0]
    for name, function in list(vars(loaded).items()):
        if (
            REGISTERS.fullmatch(name)
            and inspect.isfunction(function)
            and function.__module__.partition(".")[0] == package
            and all(
                parameter.default is not parameter.empty
                for parameter in inspect.signature(function).parameters.values()
            )
        ):
            with blaming(f"{asked}: {package}.{name}()", UsageError):
                function()


def _wrap(
    env: gymnasium.Env[Any, Any], wrapping: Wrapping, files: Sequence[str] | None
) -> gymnasium.Env[Any, Any]:
    """Put a wrapper around the environment.

    Raises:
        UsageError: There is no such wrapper, or it failed.
    """
    module, _, name = wrapping.name.rpartition(":")
    asked = f"the wrapper {wrapping.name}"
    loaded = import_users_module(module, asked, files) if module else gymnasium.wrappers
    called, name, asked = name.endswith(CALLED), name.removesuffix(CALLED), wrapping.name.removesuffix(CALLED)
    wrapper = builder_of(_attribute(loaded, name, wrapping.name, what="wrapper"), asked, called=called)
    kwargs = dict(wrapping.kwargs)
    with blaming(f"the wrapper {wrapping}", UsageError):
        try:
            wrapped = wrapper(env, **kwargs)
        except (AttributeError, TypeError, ValueError, AssertionError):
            arrays = {name: as_array(value) for name, value in kwargs.items()}
            if all(arrays[name] is kwargs[name] for name in kwargs):
                raise
            wrapped = wrapper(env, **arrays)  # JSON has no arrays, only lists
    return wrapped


def _attribute(loaded: ModuleType, name: str, asked: str, what: str = "environment") -> Any:
    """Return the class or function of a name in a module.

    Raises:
        UnknownEnvironmentError: There is none; the message names similar ones.
    """
    value: Any = loaded
    for part in name.split("."):
        value = getattr(value, part, None)
    if value is not None:
        return value
    known = [
        key
        for key, value in vars(loaded).items()
        if is_environment(value) and (what == "environment" or issubclass(value, gymnasium.Wrapper))
    ]
    if what == "environment":
        made_by = {i: spec.entry_point for i, spec in gymnasium.registry.items()}
        modules = {
            i: str(getattr(value, "__module__", value)).partition(":")[0] for i, value in made_by.items()
        }
        known += [i for i, module in modules.items() if f"{module}.".startswith(f"{loaded.__name__}.")]
    all_known = textwrap.shorten(
        ", ".join(known) or "none", MAX_NAMES_CHARS, placeholder=f" and more, {len(known)} in all"
    )
    hint = suggest(name, known, f"it has {all_known}.", most=3)
    if getattr(loaded, "__file__", None) is None:  # shadows the module, seen from its parent folder
        hint = f"{loaded.__name__} is a folder here; change to the folder that holds the module: cd {loaded.__name__}"
    raise UnknownEnvironmentError(f"{label_of(asked)}: there is no {what} {name} there; {hint}")


def _missing_package(task: Task, fault: Exception) -> MissingExtraError:
    name = task.env_id.rpartition(":")[2]
    newest = _versions(name)[-1] if name in gymnasium.registry else name
    if newest != name:
        return MissingExtraError(
            f"{task.env_id} is an old version that the installed packages no longer run; use {newest}."
        )
    entry_point = getattr(gymnasium.registry.get(name), "entry_point", "")
    simulator = SIMULATED.match(str(entry_point))
    if simulator and isinstance(fault, error.DependencyNotInstalled):
        return MissingExtraError(f'{name} needs its simulator: pip install "promptpo[{simulator[1]}]"')
    return MissingExtraError(
        f"the environment {task.name} needs a package that is not installed: {first_line(fault)}."
    )


def _explain_unknown(name: str) -> str:
    """Return the error message for an unknown id, with similar names."""
    if name.startswith(OBJECTS):
        return (
            f"the environment {name.removeprefix(OBJECTS)} was passed as a Python object, which exists only in that "
            f'program; pass it again: promptpo.resume("RUN", env=...).'
        )
    others = _versions(name)
    if others:
        return f"there is no environment {name}; this version of Gymnasium has {', '.join(reversed(others))}."
    from promptpo.envs import meta_world

    robots = meta_world.classes()
    long = [meta_world.NAMESPACE + robot for robot in robots]
    hint = suggest(name, (*gymnasium.registry, *long, *robots), "write it as Gymnasium does.", most=3)
    game = ATARI.fullmatch(name)
    if game is not None:
        ale = f"ale_py:ALE/{game['game']}-v5"
        hint += f" A game of the Arcade Learning Environment: pip install ale-py, and name it {ale}."
    if name.isidentifier() and find_spec(name) is not None:
        return f"there is no environment {name}; it is a module, so name an environment in it: {name}:NAME."
    return f"there is no environment {name}; {hint} (Your own environment: module:{name}.)"


def _versions(name: str) -> list[str]:
    """Return the registered versions of an environment, oldest first."""
    stem = name.rpartition("-v")[0] or name
    return sorted(
        (i for i in gymnasium.registry if i.rpartition("-v")[0] == stem),
        key=lambda i: gymnasium.spec(i).version or 0,
    )
