"""`optimize --refine`: pass the run's best program on to `promptpo refine`, and add the result to the run's."""

from __future__ import annotations

import importlib.util
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import typer

from promptpo.errors import MissingExtraError

if TYPE_CHECKING:
    from promptpo.output.run_result import RunResult

REQUIRED_MODULES = ("stable_baselines3", "sb3_contrib")
"""Modules required for training a network, besides promptpo's baselines."""


def check_refine(*, seeds: int | None) -> None:
    """Check that a network can be trained, before any request or episode.

    Raises:
        BadParameter: Several runs are requested.
        MissingExtraError: A package is missing.
    """
    if seeds is not None:
        raise typer.BadParameter(
            "--refine works on a single run; finish the --seeds runs first, then: promptpo refine RUN"
        )
    if any(importlib.util.find_spec(module) is None for module in REQUIRED_MODULES):
        raise MissingExtraError(
            '--refine needs stable-baselines3 and sb3-contrib: pip install "promptpo[baselines]"'
        )


def refine_after(
    result: RunResult, steps: int, call: Callable[[Sequence[str]], int], *, quiet: bool
) -> RunResult:
    """Train a network from the best program of a run, and add it to the run's result and report.

    An interrupted training continues; a complete one with the same number of steps is not repeated. If the run was
    stopped, nothing is trained.

    Args:
        result: The run.
        steps: Number of training steps.
        call: Runs a command line of promptpo.
        quiet: Whether to print errors only.

    Returns:
        The run with the network's result.

    Raises:
        Exit: Training failed; the run's own result is kept.
    """
    from dataclasses import replace

    from promptpo.display.console import say
    from promptpo.output.refined import add_refined, folder_of
    from promptpo.output.report.page import write_report
    from promptpo.output.report.result import REFINED, REPORT
    from promptpo.output.sentences import sentence
    from promptpo.run.config_file import CONFIG, load_config

    folder = folder_of(result)
    again = f"promptpo resume {shlex.quote(str(result.directory))} --refine {steps}"
    if result.stop.kind == "interrupted":
        say(f"Not refined because the run was stopped; to refine it: {again}", error=True)
        return result
    config = load_config(result.directory / CONFIG)
    tested = result.record.test.episodes or config.most_tested
    words = ["refine", str(result.directory), "--max-steps", str(steps), "--out", str(folder)]
    words += ["--seed", str(config.seed), "--test-episodes", str(tested)]
    words += ["--resume"] * folder.exists() + ["--quiet"] * quiet
    code = call(words)
    if code:
        say(f"The run's own result is kept; to continue training the network: {again}", error=True)
        raise typer.Exit(code)
    content = add_refined(result)
    write_report(result.directory, out=result.directory / REPORT, episode=False)
    if not quiet:
        say(sentence("refined", content[REFINED]))
    return replace(result, data=content)
