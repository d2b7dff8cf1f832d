"""``promptpo spec``: print or check the spec of an environment."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from promptpo.cli.arguments import AsJson, EnvId, Output, write_output
from promptpo.cli.document import print_json, standard_output
from promptpo.cli.groups import expand_groups
from promptpo.cli.run_flags import SpecSettings, TaskFlags
from promptpo.files import read_text
from promptpo_sandbox.text import clean_lines

if TYPE_CHECKING:
    from promptpo.envs.task import Reveal, Task


@expand_groups
def spec(
    env_id: EnvId,
    making: TaskFlags,
    settings: SpecSettings,
    output: Output = None,
    check: Annotated[
        Path | None,
        typer.Option(help="Compare an edited spec file with the environment instead."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print what the model will see of an environment.

    With --check, exit code 1 means that the file contradicts the environment.
    """
    task, telling = making.task(env_id), settings.read()
    if check is not None:
        _check(check, task, as_json=as_json)
        return
    from promptpo.spec.describe import describe

    reveal: Reveal = telling.get("reveal") or "source"
    described = describe(task, reveal=reveal)
    if described.revealed != reveal:
        print(
            "promptpo: the environment's source cannot be read, so the model is shown the rest",
            file=sys.stderr,
        )
    write_output(described.text, output, {"env": env_id} if as_json else None)


def _check(path: Path, task: Task, *, as_json: bool) -> None:
    from promptpo.spec.check import check_spec

    text = read_text(path)
    problems = [str(problem) for problem in check_spec(text, task)]
    if as_json:
        print_json({"env": task.env_id, "spec": str(path), "problems": problems})
    else:
        lines = [f"{path}: {problem}" for problem in problems]
        print(clean_lines(*lines) or f"{path} agrees with {task.label}.", file=standard_output())
    if problems:
        raise typer.Exit(1)
