"""A policy file and its task, which the user names, or else the file or run, which may come from a stranger."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from promptpo.core.journal import from_json
from promptpo.envs.task import Task, label_of, resolve_near
from promptpo.errors import UsageError
from promptpo.files import Json, StrPath, read_json, read_text
from promptpo.output.exporting import BEST, parse_added_part, policy_part, reward_of, task_of
from promptpo.program import Program
from promptpo.run.config_file import CONFIG, load_config
from promptpo.run.origin import (
    SETTINGS,
    builds,
    is_builtin,
    is_made_here,
    is_signed_here,
    name_changed_files,
)
from promptpo_sandbox import check_source

NAMELESS = ":"
"""Stands for an environment of which only other parts are given; unlike a name in a file, it is not resolved."""


def file_and_task(policy: StrPath, task: Task | None, *, trust: bool = False) -> tuple[Path, Task]:
    """Return the file of a policy and the task that it is to play.

    Args:
        policy: An exported file, a bare policy module, or a run directory, which stands for its best policy.
        task: The task that the user named; None takes that of the run or of the exported file.
        trust: Whether the environment named there may be built, whatever it is and whoever made it.

    Raises:
        UsageError: The run has no policy, its environment is unknown, or that is not trusted.
    """
    given = Path(policy)
    path, run = (best_of(given), given) if given.is_dir() else (given, given.parent)
    if task is not None:
        return path, task
    found, own, changed = _find_task(path, run, in_run=given.is_dir())
    if found is None:
        raise UsageError(f"{path} does not say which environment it is for; name it with --env ENV_ID.")
    if not (trust or own or is_builtin(found)):
        why = (
            f"{changed} has changed since {path} was signed here"
            if changed
            else f"{path} does not belong to a run that was made here"
        )
        raise UsageError(
            f"{why}, and playing it {builds(found)}. If you trust it, "
            "add --trust (trust=True from Python); or name the environment yourself with --env ENV_ID."
        )
    return path, replace(found, files=None) if trust else found


def _find_task(path: Path, run: Path, *, in_run: bool) -> tuple[Task | None, bool, str]:
    """Return the task of a policy, whether it was made here, and the names of its files that have changed since.

    The run counts, unless the file was exported for another environment: then its own statements and signature do.

    Args:
        path: The file of the policy.
        run: The directory that may be its run.
        in_run: Whether the user named that directory, rather than the file.
    """
    own = is_made_here(run)
    of_run = _task_of_run(run) if own or in_run else None
    text = "" if path.suffix == ".zip" else read_text(path)
    stated = task_of(text)
    if stated is None:
        return of_run, own, ""
    if of_run is not None and _same_names(stated, of_run):
        # the file has the limit that the run set for lack of another
        return replace(of_run, max_episode_steps=stated.max_episode_steps), own, ""
    files, signed = files_of(path), is_signed_here(text)
    changed = name_changed_files(files) if signed else ""
    found = replace(stated, reward=reward_of(text, path.name), files=tuple(files.values()))
    return found.rename_with(lambda name: resolve_near(name, path)), signed and not changed, changed


def files_of(path: Path) -> Json:
    """Return digests of the environment's files at the start of an exported policy's run, by path; empty for other files."""
    found = {} if path.suffix == ".zip" else parse_added_part(read_text(path)).constant("FILES")
    known = found if isinstance(found, dict) else {}
    return {resolve_near(f"{name}:", path)[:-1]: digest for name, digest in known.items()}


def best_of(run: Path) -> Path:
    """Return the best policy in the directory of a run, which may come from a stranger.

    Raises:
        UsageError: There is none, it cannot be read, or it is a link.
    """
    path = run / BEST
    if not path.exists():
        raise UsageError(f"{run} has no policy ({BEST}) in it; see: promptpo show {shlex.quote(str(run))}")
    read_text(path, links=False)
    return path


def _task_of_run(directory: Path) -> Task | None:
    """Return the task of a run or a baseline; None if it is neither."""
    if (directory / CONFIG).exists():
        return load_config(directory / CONFIG).task
    try:
        return from_json(Task, read_json(directory / SETTINGS)["task"]).restrict_files({})
    except (OSError, ValueError, LookupError, TypeError):
        return None


def check_made_for(path: Path, text: str, task: Task) -> None:
    """Reject a policy that was exported for another environment; versions may differ.

    Raises:
        UsageError: It was exported for another one.
    """
    made_for = task_of(text)
    if made_for is not None and not _same_names(made_for, task):
        raise UsageError(
            f"{path} was exported for {label_of(made_for.env_id)}, not for {task.label}; use a policy that was made for it, or, "
            "to use this one anyway, save the policy alone (the part above '# --- the policy ends here')."
        )


def _same_names(one: Task, other: Task) -> bool:
    """Whether two tasks share an environment by name, in any version and from any module."""

    def names(task: Task) -> set[str]:
        ids = (
            str(single.env_kwargs.get("env_name", single.env_id)) for single in task.singles()
        )  # Meta-World's
        return {re.sub(r"-v\d+$", "", re.split(r"[:/]", name)[-1]).lower() for name in ids}

    return bool(names(one) & names(other))


def with_changes(task: Task, given: Task) -> Task:
    """Return a policy's task with the user's changes.

    Given arguments of the environment or variants replace both, since they belong together.
    """
    made = given if given.env_kwargs or given.is_family else task
    return replace(
        task,
        env_kwargs=made.env_kwargs,
        max_episode_steps=given.max_episode_steps or task.max_episode_steps,
        wrappers=given.wrappers or task.wrappers,
        variants=made.variants,
        held_out=made.held_out,
        show_variant=given.show_variant or task.show_variant,
        reward=given.reward or task.reward,
    ).validate()


def policies_in(paths: Sequence[StrPath], task: Task | None = None) -> tuple[str, ...]:
    """Return the policy modules in files; of an exported file, its policy part.

    Args:
        paths: Files, or run directories, which stand for their best policies.
        task: The task that they are to play; None skips the check that they were made for it.

    Raises:
        UsageError: A file cannot be read, has no policy in it, or was exported for another environment.
    """
    found = []
    for path in map(Path, paths):
        text = read_text(best_of(path) if path.is_dir() else path)
        source = policy_part(text)
        if task is not None:
            check_made_for(path, text, task)
        program = Program.from_source(source)
        if not program.is_python:
            failure = check_source(source)
            raise UsageError(
                f"{path} is not valid Python: {failure.message if failure else 'it cannot be parsed.'}"
            )
        if "Policy" not in program.names:
            raise UsageError(f"{path} has no class Policy; promptpo export writes files that have one.")
        found.append(source)
    return tuple(found)
