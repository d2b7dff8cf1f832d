"""Commands for viewing results and checking the machine: ``play``, ``report``, ``track``, ``doctor``."""

from __future__ import annotations

import contextlib
import threading
import webbrowser
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from promptpo.cli.arguments import (
    AsJson,
    Film,
    FirstSeed,
    PolicyFile,
    RunDir,
    Trust,
    Weaker,
)
from promptpo.cli.document import answer, print_json
from promptpo.cli.groups import expand_groups
from promptpo.cli.run_flags import EnvFlags
from promptpo.display.console import tell
from promptpo.errors import NoSuchRunError, RenderingError, UsageError


@dataclass(frozen=True, kw_only=True)
class ScreenFlags:
    """Flags for where episodes are shown."""

    human: Annotated[bool, typer.Option("--human", help="Render in a window.")] = False
    video: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the episodes as FILE.gif or FILE.mp4.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class ServingFlags:
    """Flags for opening a report in a browser, and for serving it during a run."""

    open_: Annotated[bool, typer.Option("--open", help="Open the report in the web browser.")] = False
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="Serve the report on 127.0.0.1 and refresh it while the run is in progress; stop with Ctrl-C.",
        ),
    ] = False
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port for --live; 0 picks a free one.")] = 0


@expand_groups
def play(
    policy: PolicyFile,
    environment: EnvFlags,
    screen: ScreenFlags,
    episodes: Annotated[int, typer.Option(help="Number of episodes.")] = 1,
    seed: FirstSeed = 0,
    allow_weaker_sandbox: Weaker = False,
    as_json: AsJson = False,
) -> None:
    """Watch a policy: in a window, or as a video file.

    The policy runs in the sandbox; its actions are then repeated in an environment that another process
    renders. With neither --human nor --video, it writes a GIF beside the policy where there is no screen,
    and opens a window where there is one; an environment that cannot be rendered is played without pictures. Exit code 0: it ran; 1: it failed; 2: usage error.

    Without --env, the run or file names the environment. One that does not come with Gymnasium is built only for runs that
    were made here; other runs require --trust.
    """
    from promptpo.cli.show import answer_evaluation
    from promptpo.output.film import has_screen
    from promptpo.output.play import play as watch

    path, task = environment.for_policy(policy)
    human, video = screen.human, screen.video
    chosen = human or video is not None
    if not chosen:
        human = has_screen()
        video = None if human else _beside(path)
    played = partial(
        watch, path, task, episodes=episodes, seed=seed, allow_weaker_sandbox=allow_weaker_sandbox
    )
    try:
        found = played(video=video, human=human)
    except RenderingError as error:
        if chosen:
            raise
        tell(f"{error} The policy is played without pictures.", error=True)
        found = played()
    answer_evaluation(found, as_json=as_json)


def _beside(policy: Path) -> Path:
    """Return the path of a policy's GIF: beside it, unless it is in a run that was not made here."""
    from promptpo.output.runs import is_run
    from promptpo.run.origin import is_made_here, place_for

    run = policy.parent
    return place_for(run, f"{policy.stem}.gif", None, own=not is_run(run) or is_made_here(run))


@expand_groups
def report(
    run: RunDir,
    serving: ServingFlags,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write; by default RUN/report.html, or ./report.html for a run that was not made here."
        ),
    ] = None,
    film: Film = True,
    allow_weaker_sandbox: Weaker = False,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Write RUN/report.html, one page on what happened in a run.

    For a folder of --seeds, write compare.html. Also works while the run is in progress. The policy runs once more, in the sandbox, for the episode that is
    shown; if the environment cannot be rendered, the page says why. For a run that was not made here this
    requires --trust; the rest of the page executes nothing.

    A run that was not made here is only read: its page is written to the current directory.

    --live writes no file: it serves the page read-only, without an episode, to this machine only. From a
    remote machine: ssh -L 8000:127.0.0.1:PORT HOST.
    """
    if serving.live:
        _serve(run, serving.port, open_=serving.open_, as_json=as_json)
        return
    if serving.port:
        raise UsageError("--port requires --live.")
    from promptpo.multi_seed import is_folder_of_seeds, runs_in_folder
    from promptpo.output.report.page import write_report
    from promptpo.run.origin import is_made_here, place_for

    if is_folder_of_seeds(run):
        from promptpo.cli.many_commands import compare_in

        path = compare_in(run, runs_in_folder(run), out)
    else:
        path = write_report(
            run,
            out=place_for(run, "report.html", out, own=is_made_here(run)),
            episode=film,
            allow_weaker_sandbox=allow_weaker_sandbox,
            trust=trust,
            tell=partial(tell, error=True),
        )
    answer({"run": str(run), "output": str(path)}, f"wrote {path}", as_json=as_json)
    if serving.open_ and not webbrowser.open(path.absolute().as_uri()):
        raise UsageError(f"no web browser was found; open {path} yourself.")


def _serve(run: Path, port: int, *, open_: bool, as_json: bool) -> None:
    """Serve the report until Ctrl-C."""
    from promptpo.cli.multi_seed_output import example_run
    from promptpo.multi_seed import is_folder_of_seeds
    from promptpo.output.live import draw_page
    from promptpo.output.serving import PageServer

    if is_folder_of_seeds(run):
        raise UsageError(
            f"{run} holds one run for each seed; serve one of them: promptpo report {example_run(run)} --live"
        )
    if not run.is_dir():
        raise NoSuchRunError(f"there is no run {run}.")
    try:
        server = PageServer(partial(draw_page, run), port)
    except OSError as error:
        raise UsageError(f"cannot serve on port {port}: {error.strerror}; omit --port.") from error
    with server, contextlib.suppress(KeyboardInterrupt):
        text = f"{run} is at {server.url} (on this machine only; Ctrl-C ends it)"
        answer({"run": str(run), "url": server.url}, text, as_json=as_json)
        if open_:
            webbrowser.open(server.url)
        threading.Event().wait()


def track(
    run: RunDir,
    to: Annotated[
        list[str],
        typer.Option(
            "--to",
            metavar="WHAT[:WHERE]",
            help="tensorboard:FOLDER, wandb:PROJECT, mlflow:URI or monitor:FILE; repeatable.",
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Send a finished run to a dashboard, or write a monitor file.

    `promptpo optimize --track` does the same during the run.
    """
    from promptpo.output.tracking import send, tracker

    send(run, [tracker(name) for name in to])
    answer({"run": str(run), "sent_to": to}, f"sent {run} to {', '.join(to)}", as_json=as_json)


def doctor(as_json: AsJson = False) -> None:
    """Check this machine, and say how to fix what is missing.

    Python, packages, keys (never shown), local servers, the sandbox's layers, rendering, cores, disk.
    Exit code 0: promptpo can run here; 1: something must be fixed first.
    """
    from dataclasses import asdict

    from promptpo.cli.doctor import examine

    marks = {"ok": "ok  ", "note": "note", "problem": "FAIL"}
    findings = []
    for finding in examine():
        findings.append(finding)
        if not as_json:
            cure = f"  -> {finding.cure}" if finding.cure else ""
            tell(f"{marks[finding.state]}  {finding.topic:<13} {finding.text}{cure}")
    if as_json:
        print_json([asdict(finding) for finding in findings], indent=2)
    if any(finding.state == "problem" for finding in findings):
        raise typer.Exit(1)
