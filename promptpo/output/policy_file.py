"""A policy file and the task that it is for: named by the user, or by the file or run, which may be a stranger's."""

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
"""An environment of which only other parts are named; unlike the name that a file gives, it is not looked for."""


def file_and_task(policy: StrPath, task: Task | None, *, trust: bool = False) -> tuple[Path, Task]:
    """The file that a policy is in, and what it is to play.

    Args:
        policy: An exported file, a bare policy module, or a run directory, which means its best.
        task: What the user named; None asks the run, or the exported file.
        trust: Whether the environment that it names may be built whatever it is, and whoever made it.

    Raises:
        UsageError: The run has no policy, nobody says which environment it is for, or what it names is not trusted.
    """
    given = Path(policy)
    path, run = (best_of(given), given) if given.is_dir() else (given, given.parent)
    if task is not None:
        return path, task
    own, changed = is_made_here(run), ""
    found = _task_of_run(run) if own or given.is_dir() else None
    text = "" if path.suffix == ".zip" else read_text(path)
    said = task_of(text)
    if said is not None and (found is None or not _same_names(said, found)):
        files, signed = files_of(path), is_signed_here(text)
        changed = name_changed_files(files) if signed else ""
        own = signed and not changed
        found = replace(said, reward=reward_of(text, path.name), files=tuple(files.values())).rename_with(
            lambda name: resolve_near(name, path)
        )
    elif said is not None and found is not None:
        # the file has the limit that a run sets where there is no other
        found = replace(found, max_episode_steps=said.max_episode_steps)
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


def files_of(path: Path) -> Json:
    """Digests of the environment's files when the run of an exported policy began, by path; empty for other files."""
    found = {} if path.suffix == ".zip" else parse_added_part(read_text(path)).constant("FILES")
    known = found if isinstance(found, dict) else {}
    return {resolve_near(f"{name}:", path)[:-1]: digest for name, digest in known.items()}


def best_of(run: Path) -> Path:
    """The best policy in the directory of a run, which may be a stranger's.

    Raises:
        UsageError: There is none, or what is there cannot be read, or is a link.
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
    """Refuse a policy that was exported for another environment; any version of the same one will do.

    Raises:
        UsageError: Its header names another one.
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
    """The task that a policy is from, with what a user named instead.

    Arguments of the environment or variants replace both; they were made for each other.
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
    """The policy modules in files; of an exported file what was there before it was exported.

    Args:
        paths: Of the files, or of runs, which means their best.
        task: What they are to play; None does not look whether they are for it.

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
