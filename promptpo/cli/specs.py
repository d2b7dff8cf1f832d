"""``promptpo spec``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from promptpo.cli.arguments import AsJson, EnvId, Output, write_output
from promptpo.cli.document import print_json, reserve_standard_output, standard_output
from promptpo.cli.groups import grouped
from promptpo.cli.run_flags import SpecSettings, TaskFlags
from promptpo.files import read_text
from promptpo_sandbox.text import clean_lines

if TYPE_CHECKING:
    from promptpo.envs.task import Task


class _WithOwnCheck(TyperCommand):
    """``--check`` takes a file or nothing."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line."""
        for at, one in enumerate(args):
            if one == "--check" and (at + 1 == len(args) or args[at + 1].startswith("-")):
                args = [*args[:at], f"--check={OWN}", *args[at + 1 :]]
                break
        return list(super().parse_args(ctx, args))


COMMAND = _WithOwnCheck

OWN = "."
"""What stands for the generated spec where a file is checked."""


@grouped
def spec(
    env_id: EnvId,
    making: TaskFlags,
    settings: SpecSettings,
    output: Output = None,
    check: Annotated[
        Path | None,
        typer.Option(
            help="Compare an edited spec file with the environment instead; without a file, say which statements of the generated "
            "one were held against steps, and how."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print what the model will be told about an environment.

    With --check, exit code 1 means that the file says something that the environment contradicts.
    """
    reserve_standard_output()
    task, telling = making.task(env_id), settings.read()
    if check is not None and str(check) != OWN:
        _check(check, task, as_json=as_json)
        return
    from promptpo.spec.describe import describe

    described = describe(task, reveal=telling.get("reveal") or "source")
    if check is None:
        write_output(described.text, output, {"env": env_id} if as_json else None)
    elif as_json:
        print_json({"env": task.env_id, "checks": list(described.checks)})
    else:
        print(clean_lines(*described.checks), file=standard_output())


def _check(path: Path, task: Task, *, as_json: bool) -> None:
    from promptpo.spec.check import check_spec

    text = read_text(path)
    problems = [str(problem) for problem in check_spec(text, task)]
    if as_json:
        print_json({"env": task.env_id, "spec": str(path), "problems": problems})
    else:
        lines = [f"{path}: {problem}" for problem in problems]
        print(clean_lines(*lines) or f"{path} agrees with {task.env_id}.", file=standard_output())
    if problems:
        raise typer.Exit(1)
