"""The command line of ``promptpo``, with the commands `optimize` and `resume`.

Other modules of this package have the other commands. Exit codes: 0 done; 1 the run or the policy failed; 2 usage
error; 130 stopped by Ctrl-C; 143 stopped by SIGTERM.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from promptpo import __version__
from promptpo.cli.amounts import COUNTS, normalize
from promptpo.cli.arguments import EnvId, RunDir, Trust
from promptpo.cli.defaults import read_defaults
from promptpo.cli.document import print_json, release
from promptpo.cli.groups import COMMAND_GROUPS, GroupedHelp, expand_groups
from promptpo.cli.run_flags import (
    ChangedSettings,
    Estimate,
    MoreFlags,
    NewSettings,
    Out,
    Refine,
    ShowingFlags,
    TestedFlags,
)
from promptpo.display.console import say, tell
from promptpo.errors import PromptPOError, UsageError
from promptpo.files import reading, release_empty
from promptpo_sandbox.text import clean_lines

if TYPE_CHECKING:
    from promptpo.output.observer import Observer
    from promptpo.output.run_result import RunResult

COMMANDS = "promptpo.commands"
"""Entry-point group of commands in other packages, or in ours that import promptpo."""

RUN = "runs/CartPole-v1-20260101-120000"

LAZY_COMMANDS = {
    "demo": ("demo_command:demo", ""),
    "export": ("result_commands:export", f"{RUN} -o policy.py"),
    "evaluate": ("result_commands:evaluate", "policy.py --env CartPole-v1 --episodes 100 --json"),
    "show": ("result_commands:show", RUN),
    "list": ("many_commands:list_runs", "runs"),
    "compare": ("many_commands:compare", "runs/a runs/b -o compare.html"),
    "spec": (
        "specs:spec",
        "Pendulum-v1 -o spec.py; edit it; promptpo optimize Pendulum-v1 --spec spec.py",
    ),
    "play": ("view_commands:play", "best.py --env CartPole-v1 --video best.gif"),
    "report": ("view_commands:report", f"{RUN} --open"),
    "track": ("view_commands:track", f"{RUN} --to tensorboard:logs"),
    "doctor": ("view_commands:doctor", ""),
    "inbox": ("inbox_command:inbox", "box --answer 3 < answer.md"),
}
"""Commands in other modules: name to module and function, imported on use, and the arguments of an example."""

DISK_FAULTS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO})
"""Faults of the disk, reported in one sentence; other OS errors are bugs and keep their traceback."""

PYDANTIC = {
    "Value error, ": "",
    "Input should be greater than or equal to": "must be at least",
    "Input should be a valid integer, unable to parse string as an integer": "must be a whole number",
    "Input should be a valid number, unable to parse string as a number": "must be a number",
}
"""Beginnings of pydantic's messages, to plainer ones."""


class _Commands(TyperGroup):
    """The commands of promptpo and of installed packages; all but two are imported on use."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return [
            *super().list_commands(ctx),
            *LAZY_COMMANDS,
            *sorted(entry.name for entry in metadata.entry_points(group=COMMANDS)),
        ]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands in groups, those of other packages last."""
        found = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        left = {
            name: command for name, command in found.items() if command is not None and not command.hidden
        }
        rows = {name: (name, command.get_short_help_str(64)) for name, command in left.items()}
        for title, names in COMMAND_GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([rows.pop(name) for name in names.split() if name in rows])
        if rows:
            with formatter.section("From other packages"):
                formatter.write_dl(list(rows.values()))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of a name; None if there is none."""
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            return found
        if cmd_name in LAZY_COMMANDS:
            place, example = LAZY_COMMANDS[cmd_name]
            module, _, name = place.partition(":")
            home = import_module(f"promptpo.cli.{module}")
            alone = typer.Typer(rich_markup_mode=None, add_completion=False)
            as_typed = alone.command(
                cmd_name,
                cls=TyperCommand,
                epilog=f"Example: promptpo {cmd_name} {example}".rstrip(),
            )
            as_typed(getattr(home, name))
            return typer.main.get_command(alone)
        for entry in metadata.entry_points(group=COMMANDS, name=cmd_name):
            try:
                loaded = entry.load()
            except (ImportError, AttributeError):
                continue  # a broken package must not break `promptpo --help`
            command = typer.main.get_command(loaded)
            command.name = cmd_name
            return command
        return None

    def make_context(self, *arguments: Any, **named: Any) -> Any:
        """Parse the command line."""
        with _abortable():
            return super().make_context(*arguments, **named)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _abortable():
            return super().invoke(ctx)


@contextmanager
def _abortable() -> Iterator[None]:
    """Turn Ctrl-C into an `Abort` with its message on how to continue, which typer would drop."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise typer.Abort(*stop.args) from stop


app = typer.Typer(
    cls=_Commands,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="A large language model writes the policy for your reinforcement-learning environment.",
    epilog="Example: promptpo optimize CartPole-v1",
)


READERS = frozenset(
    {"compare", "evaluate", "export", "inbox", "list", "play", "refine", "report", "resume", "show", "track"}
)
"""Commands that read files of unknown origin."""


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return the exit code."""
    arguments = normalize(arguments) or ["--help"]
    try:
        with reading(arguments[1]) if len(arguments) > 1 and arguments[0] in READERS else nullcontext():
            code = app(list(arguments), standalone_mode=False, prog_name="promptpo")
        return int(code) if isinstance(code, int) else 0
    except TyperException as error:
        _complain(_explain(error))
        return 2
    except typer.Exit as stop:
        return int(stop.exit_code)
    except (KeyboardInterrupt, typer.Abort) as stop:
        _complain(f"stopped; {stop}" if str(stop) else "stopped.")
        from promptpo.core.control import TerminatedError

        return 143 if isinstance(stop.__cause__ or stop, TerminatedError) else 130
    except PromptPOError as error:
        _complain(str(error))
        return 2 if isinstance(error, UsageError) else 1
    except BrokenPipeError:  # the reader of our output exited, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        if error.errno not in DISK_FAULTS:
            raise
        _complain(f"cannot write{f' {error.filename}' if error.filename else ''}: {error.strerror}.")
        return 1
    finally:
        release()
        release_empty()


def _explain(error: TyperException) -> str:
    """Describe an error in the command line in one sentence."""
    context = getattr(error, "ctx", None)
    hint = f" See: {context.command_path} --help" if context else ""
    message = error.format_message()
    for theirs, ours in PYDANTIC.items():
        message = message.replace(theirs, ours)
    if re.search(rf"'{COUNTS.pattern}'", message):
        message = message.replace("whole number", "whole number, such as 50000, 50k or 1e5")
    if message.startswith("No such command") and context and context.info_name != "promptpo":
        message = f"{message} Available: {', '.join(context.command.list_commands(context))}"
    return f"{message}{'' if message.endswith(('.', '?', '!')) else '.'}{hint}"


def _complain(sentence: str) -> None:
    tell(f"promptpo: {sentence}", error=True)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"promptpo {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version
    if not context.resilient_parsing:
        group: Any = context.command
        context.default_map = read_defaults(
            Path.cwd(),
            lambda: group.list_commands(context),
            lambda name: group.get_command(context, name),
        )


@app.command(cls=GroupedHelp, epilog="Example: promptpo optimize CartPole-v1 --model anthropic --rounds 3")
@expand_groups
def optimize(
    env_id: EnvId,
    making: TestedFlags,
    settings: NewSettings,
    more: MoreFlags,
    showing: ShowingFlags,
    out: Out = None,
    estimate: Estimate = False,
) -> None:
    """Search for a policy and write it to RUN/best.py.

    Requests policies from a language model, runs them in a sandbox, feeds the results back, and repeats. The
    best policy of the run, chosen on validation seeds, is scored on test seeds that are used for nothing else.
    Press Ctrl-C once to end the run with the best policy so far; `promptpo resume RUN` continues it.
    """
    from promptpo.api import default_directory, make_config, new_session

    if more.refine is not None:
        from promptpo.cli.refining import check_refine

        check_refine(seeds=more.seeds)
    config = make_config(making.task(env_id), settings.read())
    if estimate:
        ahead = new_session(config).estimate()
        if showing.as_json:
            print_json(ahead.as_json())
        else:
            say(clean_lines(*ahead.lines()))
            if more.seeds is not None:
                say(f"This estimate is for one run; {more.seeds} runs are requested.")
        return
    if more.seeds is not None:
        from promptpo.cli.multi_seed_output import finish
        from promptpo.multi_seed import begin_seeds

        finish(
            begin_seeds(config, more.seeds, out or default_directory(config.task), _displays(showing)),
            showing,
        )
        return
    with _display(showing) as observer:
        run = new_session(config, out=out, observer=observer).run()
    _finish(run, showing, more.refine)


@app.command(cls=GroupedHelp, epilog="Example: promptpo resume runs/CartPole-v1-20260101-120000 --rounds 10")
@expand_groups
def resume(
    run: RunDir,
    settings: ChangedSettings,
    showing: ShowingFlags,
    refine: Refine = None,
    trust: Trust = False,
) -> None:
    """Continue an interrupted run, or extend a finished one.

    Given a folder of --seeds, continues all of its runs. Nothing recorded in the journal is requested or rolled out again. A run that was not made here is resumed with
    --trust; if it names a server address, repeat the address with --base-url, since your API key is sent there.
    """
    from promptpo.api import resume_session
    from promptpo.multi_seed import is_folder_of_seeds, resume_seeds

    changes = {**settings.read(named=True), "trust": trust}
    several = is_folder_of_seeds(run)
    if refine is not None:
        from promptpo.cli.refining import check_refine

        check_refine(seeds=1 if several else None)
    if several:
        from promptpo.cli.multi_seed_output import finish

        finish(resume_seeds(run, _displays(showing), **changes), showing)
        return
    with _display(showing) as observer:
        result = resume_session(run, observer=observer, **changes).run()
    _finish(result, showing, refine)


@contextmanager
def _display(showing: ShowingFlags, seed: int | None = None) -> Iterator[Observer]:
    from promptpo.display.terminal import choose_display

    quiet = showing.quiet or showing.as_json
    brief = seed is not None
    if not showing.track:
        with choose_display(quiet=quiet, brief=brief) as display:
            yield display
        return
    from promptpo.cli.multi_seed_output import tracker_for_seed
    from promptpo.output.tracking import Several, tracker

    names = [name if seed is None else tracker_for_seed(name, seed) for name in showing.track]
    trackers = [tracker(name) for name in names]  # raises for wrong names before the run starts
    with choose_display(quiet=quiet, brief=brief) as display:
        yield Several(display, trackers)


def _displays(showing: ShowingFlags) -> Callable[[int], AbstractContextManager[Observer]]:
    """Return a function that opens the display of the run with a seed."""
    return lambda seed: _display(showing, seed)


def _finish(result: RunResult, showing: ShowingFlags, refine: int | None) -> None:
    if refine is not None and result.candidate:
        from promptpo.cli.refining import refine_after

        result = refine_after(result, refine, run, quiet=showing.quiet or showing.as_json)
    if showing.as_json:
        print_json({"run": str(result.directory), **result.data})
    if result.stop.kind == "interrupted":
        raise typer.Exit(130)
    if not result.candidate or result.stop.kind == "fault":
        if showing.quiet:
            from promptpo.output.outcome import outcome

            say(outcome(result.data, result.directory), error=True)
        raise typer.Exit(1)
    if showing.film:
        from promptpo.output.report.page import add_episode

        add_episode(result.directory)
