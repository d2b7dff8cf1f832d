"""The commands of ``promptpo``: what each takes, in words; the work is done elsewhere.

Here are `optimize` and `resume`; `results`, `specs` and `looking` have the others. Exit codes: 0 done; 1 the
run or the policy failed; 2 wrong usage; 130 stopped by a second Ctrl-C.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from promptpo import __version__
from promptpo.cli import looking, results, specs
from promptpo.cli.arguments import (
    AsJson,
    EnvId,
    EnvKwargs,
    Film,
    Horizon,
    Jobs,
    Quiet,
    RunDir,
    Track,
    Weaker,
    json_object,
)
from promptpo.cli.defaults import read_defaults
from promptpo.cli.terminal import clean_line, print_json, release, say
from promptpo.errors import PromptPOError, UsageError

if TYPE_CHECKING:
    from promptpo.output.run_result import RunResult
    from promptpo.run.observer import Observer

COMMANDS = "promptpo.commands"
"""Entry-point group of commands that live above promptpo in the import order, or in other packages."""

DISK_FAULTS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO})
"""What the disk does to us, as opposed to our own mistakes, whose traceback is wanted."""


class _Commands(TyperGroup):
    """Our own commands, and those of installed packages, which are imported when they are named."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names, in the order in which ``--help`` shows them."""
        return [
            *super().list_commands(ctx),
            *sorted(entry.name for entry in metadata.entry_points(group=COMMANDS)),
        ]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name; None when there is none."""
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            return found
        for entry in metadata.entry_points(group=COMMANDS, name=cmd_name):
            try:
                loaded = entry.load()
            except ImportError:
                continue  # a broken package must not take `promptpo --help` with it
            command = typer.main.get_command(loaded)
            command.name = cmd_name
            return command
        return None


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="A large language model writes the policy for your reinforcement-learning environment.",
    epilog="Example: promptpo optimize CartPole-v1",
)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return the exit code."""
    try:
        code = app(list(arguments), standalone_mode=False, prog_name="promptpo")
        return int(code) if isinstance(code, int) else 0
    except TyperException as error:
        context = getattr(error, "ctx", None)
        hint = f" See: {context.command_path} --help" if context else ""
        message = error.format_message()
        _complain(message + ("" if message.endswith((".", "?", "!")) else ".") + hint)
        return 2
    except typer.Exit as stop:
        return int(stop.exit_code)
    except PromptPOError as error:
        _complain(str(error))
        return 2 if isinstance(error, UsageError) else 1
    except (KeyboardInterrupt, typer.Abort):
        _complain("stopped.")
        return 130
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        if error.errno not in DISK_FAULTS:
            raise
        _complain(f"cannot write{f' {error.filename}' if error.filename else ''}: {error.strerror}.")
        return 1
    finally:
        release()


def _complain(sentence: str) -> None:
    say(clean_line(f"promptpo: {sentence}"), error=True)


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
            Path.cwd(), group.list_commands(context), lambda name: group.get_command(context, name)
        )


@app.command(epilog="Example: promptpo optimize CartPole-v1 --model anthropic --rounds 3")
def optimize(
    env_id: EnvId,
    model: Annotated[
        str | None,
        typer.Option(
            help="anthropic[:MODEL], openai[:MODEL], exec:COMMAND, replay:RUN, or search (no language model). By default: the provider whose key is set, else search."
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(help="Prompts.")] = 5,
    candidates: Annotated[
        int, typer.Option("--candidates", "-n", help="Policies asked for in each round.")
    ] = 4,
    episodes: Annotated[
        int | None,
        typer.Option(
            help="Training episodes per policy; by default 10, fewer where they are long for the step budget."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides training seeds and all that is random on our side.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Run directory; a new one under runs/ when not given.")
    ] = None,
    env_kwargs: EnvKwargs = "{}",
    max_episode_steps: Horizon = None,
    max_steps: Annotated[
        int, typer.Option(help="Environment steps for everything but the final test.")
    ] = 500_000,
    max_calls: Annotated[int | None, typer.Option(help="Language-model calls.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Input plus output tokens.")] = None,
    max_usd: Annotated[float | None, typer.Option(help="Money, for models whose price is known.")] = None,
    max_seconds: Annotated[float | None, typer.Option(help="Wall time.")] = None,
    stop_at: Annotated[
        float | None,
        typer.Option(
            help="Stop when the mean return on validation seeds reaches this; by default the environment's registered threshold."
        ),
    ] = None,
    recipe: Annotated[str, typer.Option(help="default, paper or evolve; see docs/recipes.md.")] = "default",
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="Override one switch of the recipe; repeatable."),
    ] = None,
    tune: Annotated[
        str, typer.Option(help="cma tunes declared PARAMS between rounds; none does not.")
    ] = "cma",
    lift_constants: Annotated[
        bool,
        typer.Option("--lift-constants", help="Tune numeric literals too where a policy declares no PARAMS."),
    ] = False,
    reveal: Annotated[
        str, typer.Option(help="How much the prompt tells: named, anonymous or bare.")
    ] = "named",
    spec: Annotated[
        Path | None, typer.Option(help="An edited spec file to show instead of the generated one.")
    ] = None,
    spec_detail: Annotated[
        str, typer.Option(help="How long the generated spec may be: short, normal or full.")
    ] = "normal",
    validation_episodes: Annotated[
        int | None,
        typer.Option(
            help="Episodes that choose the best of the run; by default 20, fewer where they are long for the step budget."
        ),
    ] = None,
    test_episodes: Annotated[int, typer.Option(help="Held-out episodes for the reported number.")] = 100,
    base_url: Annotated[
        str | None, typer.Option(help="Address of an OpenAI- or Anthropic-compatible server.")
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(help="Sampling temperature; the provider's default when not given.")
    ] = None,
    max_output_tokens: Annotated[int, typer.Option(help="Limit for one answer.")] = 16_384,
    max_prompt_tokens: Annotated[
        int, typer.Option(help="Bound on a prompt; the history is shortened to fit.")
    ] = 24_000,
    repairs: Annotated[int, typer.Option(min=0, help="Repair calls for a policy that does not run.")] = 2,
    no_clip: Annotated[
        bool,
        typer.Option(
            "--no-clip", help="A continuous action out of bounds fails the policy instead of being clipped."
        ),
    ] = False,
    jobs: Jobs = 0,
    executor: Annotated[
        str,
        typer.Option(
            help="Where rollouts run: local, or ray (RAY_ADDRESS names a cluster; by default one is started here)."
        ),
    ] = "local",
    allow_weaker_sandbox: Weaker = False,
    track: Track = None,
    film: Film = True,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Search for a policy and write it to RUN/best.py.

    Asks a language model for policies, runs them in a sandbox, tells it what happened, and repeats. The
    best policy of the run, chosen on validation seeds, is scored on test seeds that nothing else saw.
    Ctrl-C once ends the run with the best policy so far; `promptpo resume RUN` goes on with it.
    """
    from promptpo.api import start
    from promptpo.cli.options import one_of, options_of
    from promptpo.envs.task import Task
    from promptpo.run.config import RECIPES, Budget, Config

    task = Task(env_id, json_object(env_kwargs, "--env-kwargs"), max_episode_steps)
    config = Config(
        task=task,
        model=model,
        base_url=base_url,
        recipe=one_of("--recipe", recipe, tuple(RECIPES)),
        candidates=candidates,
        episodes=episodes,
        validation_episodes=validation_episodes,
        test_episodes=test_episodes,
        seed=seed,
        reveal=one_of("--reveal", reveal, ("named", "anonymous", "bare")),
        tune=one_of("--tune", tune, ("cma", "none")),
        lift_constants=lift_constants,
        clip_actions=not no_clip,
        stop_at=stop_at,
        temperature=temperature,
        max_output_tokens=max_output_tokens,
        max_prompt_tokens=max_prompt_tokens,
        repairs=repairs,
        jobs=jobs,
        executor=one_of("--executor", executor, ("local", "ray")),
        allow_weaker_sandbox=allow_weaker_sandbox,
        spec_file=str(spec) if spec else None,
        spec_detail=one_of("--spec-detail", spec_detail, ("short", "normal", "full")),
        budget=Budget(rounds, max_steps, max_calls, max_tokens, max_usd, max_seconds),
        recipe_options=options_of(option or []),
    )
    with _display(quiet=quiet, as_json=as_json, track=track) as observer:
        run = start(config, out=out, observer=observer)
    _finish(run, as_json=as_json, film=film)


@app.command(epilog="Example: promptpo resume runs/CartPole-v1-20260101-120000 --rounds 10")
def resume(
    run: RunDir,
    rounds: Annotated[int | None, typer.Option(help="New number of rounds.")] = None,
    max_steps: Annotated[int | None, typer.Option(help="New limit on environment steps.")] = None,
    max_calls: Annotated[int | None, typer.Option(help="New limit on language-model calls.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="New limit on tokens.")] = None,
    max_usd: Annotated[float | None, typer.Option(help="New limit on money.")] = None,
    max_seconds: Annotated[float | None, typer.Option(help="New limit on wall time.")] = None,
    track: Track = None,
    film: Film = True,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Go on with an interrupted run, or extend one that ended.

    Nothing that is in the journal is asked or rolled out again.
    """
    from promptpo.api import resume as go_on

    with _display(quiet=quiet, as_json=as_json, track=track) as observer:
        result = go_on(
            run,
            observer=observer,
            rounds=rounds,
            steps=max_steps,
            calls=max_calls,
            tokens=max_tokens,
            usd=max_usd,
            seconds=max_seconds,
        )
    _finish(result, as_json=as_json, film=film)


@contextmanager
def _display(*, quiet: bool, as_json: bool, track: list[str] | None) -> Iterator[Observer]:
    from promptpo.cli.display import choose_display

    if not track:
        with choose_display(quiet=quiet or as_json) as display:
            yield display
        return
    from promptpo.output.tracking import Several, tracker

    trackers = [tracker(name) for name in track]  # wrong names are told before anything starts
    with choose_display(quiet=quiet or as_json) as display:
        yield Several(display, trackers)


def _finish(run: RunResult, *, as_json: bool, film: bool) -> None:
    if as_json:
        print_json({"run": str(run.directory), **run.data})
    if run.data["best"] is None:
        raise typer.Exit(1)
    if film:
        looking.add_episode(run)


results.add_to(app)
specs.add_to(app)
looking.add_to(app)
