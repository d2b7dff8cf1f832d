"""Commands for looking at what came out: ``report`` and ``play``."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from promptpo.cli.arguments import Film, RunDir
from promptpo.errors import PromptPOError, UsageError

if TYPE_CHECKING:
    from promptpo.session import RunResult


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command(epilog="Example: promptpo report runs/CartPole-v1-20260101-120000 --open")(report)


def report(
    run: RunDir,
    open_: Annotated[bool, typer.Option("--open", help="Show it in the web browser.")] = False,
    film: Film = True,
) -> None:
    """Write RUN/report.html: one page, without network, that tells what happened in a run.

    It works while the run goes on, too. The policy runs once more, in the sandbox, for the episode that is
    shown; where the environment cannot be rendered the page says why.
    """
    from promptpo.report.page import write_report

    try:
        path = write_report(run, episode=film)
    except PromptPOError:
        raise
    except OSError as error:
        raise UsageError(f"cannot write the report to {run}: {error.strerror}.") from error
    print(f"wrote {path}")
    if open_:
        import webbrowser

        if not webbrowser.open(path.absolute().as_uri()):
            raise UsageError(f"no web browser was found; open {path} yourself.")


def add_episode(run: RunResult) -> None:
    """Put an episode into the report of a run that has just ended; Ctrl-C skips it."""
    from promptpo.report.page import write_report

    if run.data["best"] is not None:
        with contextlib.suppress(KeyboardInterrupt, PromptPOError, OSError):
            write_report(Path(run.directory), episode=True, seconds=20.0)
