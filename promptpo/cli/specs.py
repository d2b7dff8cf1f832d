"""``promptpo spec``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from promptpo.cli.arguments import (
    AsJson,
    EnvId,
    Horizon,
    ManyEnvKwargs,
    Output,
    ShowVariant,
    TasksFile,
    Wrappers,
    task_from_flags,
    write_output,
)
from promptpo.cli.terminal import print_json, say
from promptpo.files import read_text
from sandbox.text import clean_lines

if TYPE_CHECKING:
    from promptpo.envs.task import Task


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(
        epilog="Example: promptpo spec Pendulum-v1 -o spec.py; edit it; promptpo optimize Pendulum-v1 --spec spec.py"
    )(spec)


def spec(
    env_id: EnvId,
    output: Output = None,
    check: Annotated[
        Path | None, typer.Option(help="Compare an edited spec file with the environment instead.")
    ] = None,
    env_kwargs: ManyEnvKwargs = None,
    max_episode_steps: Horizon = None,
    wrapper: Wrappers = None,
    tasks: TasksFile = None,
    show_variant: ShowVariant = False,
    reveal: Annotated[
        Literal["source", "named", "anonymous", "bare"],
        typer.Option(help="How much it tells about which environment it is."),
    ] = "named",
    spec_detail: Annotated[
        Literal["short", "normal", "full"], typer.Option(help="How long it may be.")
    ] = "normal",
    as_json: AsJson = False,
) -> None:
    """Print what the model will be told about an environment.

    With --check, exit code 1 means that the file says something that the environment contradicts.
    """
    task = task_from_flags(
        env_id, env_kwargs, max_episode_steps, wrappers=wrapper, tasks=tasks, show_variant=show_variant
    )
    if check is not None:
        _check(check, task, as_json=as_json)
        return
    from promptpo.spec import describe

    text = describe(task, reveal=reveal, detail=spec_detail).text
    write_output(text, output, {"env": env_id} if as_json else None)


def _check(path: Path, task: Task, *, as_json: bool) -> None:
    from promptpo.spec import check_spec

    text = read_text(path)
    problems = [str(problem) for problem in check_spec(text, task)]
    if as_json:
        print_json({"env": task.env_id, "spec": str(path), "problems": problems})
    else:
        lines = [f"{path}: {problem}" for problem in problems]
        say(clean_lines(*lines) or f"{path} agrees with {task.env_id}.")
    if problems:
        raise typer.Exit(1)
