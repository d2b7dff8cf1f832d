"""The Python API, `optimize` and `resume`, and the functions that it shares with the command line."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.core.config import Config
from promptpo.core.control import StopReason, in_thread
from promptpo.core.feature import run_settings
from promptpo.core.journal import resume_command
from promptpo.envs.task import Task, Variant
from promptpo.errors import NoSuchRunError, UsageError
from promptpo.files import Json, StrPath, claim_directory
from promptpo.llm.choose import split_models
from promptpo.output.observer import Observer
from promptpo.output.run_result import RunResult
from promptpo.run.checking import with_settings
from promptpo.run.config_file import CONFIG, load_config
from promptpo.run.origin import (
    check_trust,
    describe_changed_files,
    is_made_here,
    trust_notice,
)
from promptpo.session import Session
from promptpo.settings import check_names, in_reference

if TYPE_CHECKING:
    from promptpo.envs.objects import EnvLike, WrapperLike
    from promptpo.llm.function import LLMLike

TASK_OPTIONS = (
    "env_kwargs", "max_episode_steps", "wrappers", "variants", "held_out", "show_variant",
)  # fmt: skip
"""Options of `optimize` that define the environment."""

OTHERS = ("reward", "llm", "out", "observer", "progress")
"""Options of `optimize` other than settings: reward program, provider, run directory and display."""


def optimize(
    env_id: EnvLike,
    *,
    model: str | Sequence[str] | None = None,
    repair_model: str | None = None,
    rounds: int = 5,
    candidates: int = 4,
    episodes: int | None = None,
    seed: int = 0,
    out: StrPath | None = None,
    env_kwargs: Json | None = None,
    wrappers: Sequence[WrapperLike] = (),
    variants: Sequence[Json | Variant] = (),
    held_out: Sequence[Json | Variant] = (),
    show_variant: bool = False,
    reward: StrPath | None = None,
    max_episode_steps: int | None = None,
    max_steps: int | None = 500_000,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    max_usd: float | None = None,
    max_seconds: float | None = None,
    hint: str = "",
    goal: str = "",
    start: Sequence[StrPath] = (),
    teacher: StrPath | None = None,
    llm: LLMLike | None = None,
    observer: Observer | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> RunResult:
    """Search for a policy for a Gymnasium environment, or for a family of variants of one.

    Args:
        env_id: An id as for Gymnasium, ``module:EnvId`` included; a class or function that builds an environment,
            itself or as ``module:Class`` or ``./file.py:Class``; or an environment.
        out: Run directory; must not hold a run. None creates one under ``runs/``.
        env_kwargs: Keyword arguments of the environment.
        wrappers: Wrappers of the environment, innermost first: names as for ``--wrapper``, classes, or pairs with arguments.
        variants: Keyword arguments beyond `env_kwargs`, one mapping per variant; one policy is to solve all.
        held_out: The same for variants that only the test plays.
        show_variant: Observations become ``{"observation": ..., "variant": n}``.
        reward: A file with a ``class Reward`` that replaces the environment's reward; see docs/goals.md.
        max_episode_steps: Horizon; None keeps the environment's.
        llm: A provider object, or a function from a prompt to its answer, to use instead of `model`.
        observer: Notified of events.
        progress: Show progress, live or as lines; None shows it in terminals and notebooks, without `observer`.

    Raises:
        PromptPOError: One sentence that says what to do; see `promptpo.errors`.
        KeyboardInterrupt: Ctrl-C. The best so far is tested and written; `resume` continues. A second one stops at once.
    """
    given = {
        name: value
        for name, value in locals().items()
        if value is not (optimize.__kwdefaults__ or {}).get(name, settings)
    }
    config = build_config(**given, **settings)
    with open_display(observer, progress) as display:
        return _unless_interrupted(new_session(config, out=out, llm=llm, observer=display))


optimize.__doc__ = (optimize.__doc__ or "").replace(
    "\n\n    Raises:", f"\n{in_reference(run_settings())}\n\n    Raises:"
)


def build_config(env_id: EnvLike, **options: Any) -> Config:
    """Build the configuration from the options of `optimize`.

    Raises:
        UsageError: There is no such option, or its value is invalid.
    """
    from promptpo.envs.objects import task_of

    llm = options.get("llm")
    given = {n: value for n, value in options.items() if n not in {*OTHERS, *TASK_OPTIONS}}
    if llm is not None:
        from promptpo.llm.function import as_llm

        if given.pop("model", None) is not None or given.get("repair_model") is not None:
            raise UsageError("llm replaces model and repair_model; pass one or the other.")
        given["model"] = as_llm(llm).name
    task = task_of(env_id, **{name: options[name] for name in TASK_OPTIONS if name in options})
    if (reward := options.get("reward")) is not None:
        from promptpo.program.reward_program import read_reward

        task = replace(task, reward=read_reward(reward))
    return make_config(task, given)


def make_config(task: Task, options: Json) -> Config:
    """Build the configuration of a run.

    Args:
        task: The task.
        options: Settings, as `optimize` takes them.

    Raises:
        UsageError: There is no such setting, or its value is invalid.
    """
    given = dict(options)
    given["model"], several = split_models(given.get("model"))
    if start := given.pop("start", None):
        from promptpo.output.policy_file import policies_in

        given["start"] = policies_in([start] if isinstance(start, str | os.PathLike) else start, task)
    known = {setting.keyword: setting for setting in run_settings()}
    check_names(given, known, "there is no setting")
    values = {known[name].name: known[name].normalize(value) for name, value in given.items()}
    return with_settings(Config(task, models=several), values)


def new_session(
    config: Config,
    *,
    out: StrPath | None = None,
    llm: LLMLike | None = None,
    observer: Observer | None = None,
) -> Session:
    """Open the session of a new run; see `optimize`.

    Raises:
        UsageError: The directory already holds a run.
    """
    directory = _path(out, "out") if out is not None else default_directory(config.task)
    if (directory / CONFIG).exists():
        raise NoSuchRunError(
            f"{directory} already holds a run; continue it with: promptpo resume {directory}, or choose another --out."
        )
    return Session(config, directory, llm, observer or Observer())


def resume(
    run: StrPath,
    *,
    env: EnvLike | None = None,
    llm: LLMLike | None = None,
    observer: Observer | None = None,
    progress: bool | None = None,
    **changes: Any,
) -> RunResult:
    """Continue a run that was interrupted, or extend one that ended.

    Args:
        run: The run directory.
        env: The environment, if the run began with an object that cannot be imported.
        llm: A provider object to use instead of the recorded one.
        observer: Notified of events.
        progress: Show progress, as for `optimize`.
        **changes: ``rounds``, ``steps``, ``calls``, ``tokens``, ``usd``, ``seconds``, ``price``, ``max_prompt_tokens``,
            ``max_output_tokens``, ``base_url``, ``allow_weaker_sandbox``; and ``trust``, to continue a run that was not made
            here, which imports and starts what it names: an address that receives keys and weaker sandboxes must be given
            again. The run is yours from then on.

    Raises:
        RunError: The directory holds no run, or another process has it open.
        UsageError: There is no such limit, its value is invalid, or the run was not made here and is not trusted.
        KeyboardInterrupt: Ctrl-C ended the search; see `optimize`.
    """
    known = {setting.name for setting in run_settings() if setting.resumed}
    check_names(changes, known | {"env", "llm", "observer", "progress", "trust"}, "resume has no option")
    with open_display(observer, progress) as display:
        return _unless_interrupted(resume_session(run, env=env, llm=llm, observer=display, **changes))


def resume_session(
    run: StrPath,
    *,
    observer: Observer,
    env: EnvLike | None = None,
    llm: LLMLike | None = None,
    **changes: Any,
) -> Session:
    """Open a session that continues a run; see `resume`."""
    directory = _path(run, "run")
    config = apply_changes(_load_trusted(directory, changes, given=llm is not None), changes)
    if env is not None:
        from promptpo.envs.objects import same_environment

        same_environment(config.task, env)
    observer.warn(f"resuming {directory} {trust_notice(config)}")
    if warning := describe_changed_files(config.files):
        observer.warn(warning)
    return Session(config, directory, llm, observer)


def apply_changes(config: Config, changes: Json) -> Config:
    """Return the configuration of a run that continues with changed settings.

    Args:
        config: The run's configuration.
        changes: Settings by field name.

    Raises:
        UsageError: A value is invalid.
    """
    new = {
        setting.name: given
        for setting in run_settings()
        if setting.resumed and (given := changes.get(setting.name)) is not None and given is not False
    }
    return with_settings(config, new)


async def optimize_async(env_id: EnvLike, **options: Any) -> RunResult:
    """Run `optimize` from an event loop: the work runs in a thread and never blocks the loop.

    Cancelling ends the search: the best so far is tested and written, and the run is closed before the cancellation
    proceeds; a second cancellation skips that. An `observer` and an `llm` are called in that thread.

    Args:
        env_id: As for `optimize`.
        **options: As for `optimize`.

    Raises:
        PromptPOError: One sentence that says what to do; see `promptpo.errors`.
        CancelledError: The call was cancelled, and the run is closed.
    """
    config = build_config(env_id, **options)
    with open_display(options.get("observer"), options.get("progress")) as display:
        session = new_session(config, out=options.get("out"), llm=options.get("llm"), observer=display)
        waiting, cancelled = asyncio.wrap_future(in_thread(session.run)), False
        while not waiting.done():
            try:
                await asyncio.wait([waiting])
            except asyncio.CancelledError:
                session.control.stop(StopReason("cancelled", "cancelled"))
                cancelled = True
        if cancelled:
            waiting.exception()  # retrieved, so that asyncio does not log it
            raise asyncio.CancelledError
        return waiting.result()


def _unless_interrupted(session: Session) -> RunResult:
    """Return the result of a run; Ctrl-C also ends the caller, so that a loop over seeds stops.

    Raises:
        KeyboardInterrupt: Ctrl-C ended the search.
    """
    result = session.run()
    if session.control.reason:
        raise KeyboardInterrupt(
            f"the run is closed; continue with: promptpo.resume({str(result.directory)!r})"
        )
    return result


def open_display(observer: Observer | None, progress: bool | None) -> AbstractContextManager[Observer]:
    """Open the display of a run started from Python: a suitable one, the caller's observer, or both.

    Raises:
        UsageError: An argument has the wrong type.
    """
    if observer is not None and not isinstance(observer, Observer):
        raise UsageError(f"observer takes a promptpo.Observer, not {observer!r}.")
    if progress is not None and not isinstance(progress, bool):
        raise UsageError(f"progress must be true or false, not {progress!r}.")
    if progress is False or (progress is None and observer is not None):
        return nullcontext(observer or Observer())
    from promptpo.display import notebook

    return notebook.open_display(observer, always=bool(progress))


def _path(path: Any, name: str) -> Path:
    try:
        return Path(path)
    except TypeError:
        raise UsageError(f"{name} must be a path, not {path!r}.") from None


def _load_trusted(directory: Path, changes: Json, *, given: bool) -> Config:
    """Load the configuration of a run that may be executed; a stranger's loses permissions given by its maker.

    Args:
        directory: The run directory.
        changes: Changes by the user.
        given: Whether a provider object replaces the run's model.
    """
    config = load_config(directory / CONFIG)
    if changes.get("trust"):
        config = replace(config, task=replace(config.task, files=None))
    if is_made_here(directory):
        return config
    again = [resume_command(directory), "--trust"]
    address = (
        ["--base-url", "ADDRESS"] if config.base_url and not changes.get("base_url") and not given else []
    )
    if not changes.get("trust"):
        check_trust(directory, trust_notice(config), again + address)
    if address:
        raise UsageError(
            f"{directory} was not made here and names {config.base_url} as the address for your key; to send "
            f"the key there, name it yourself: {' '.join(again + address)}"
        )
    return replace(config, base_url=None, allow_weaker_sandbox=False)


def default_directory(task: Task) -> Path:
    """Create a new directory under ``runs/``, named after the environment and the time."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", task.label).strip("-")
    base = f"runs/{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    places = map(Path, chain([base], (f"{base}-{n}" for n in count(2))))
    return next(place for place in places if claim_directory(place))
