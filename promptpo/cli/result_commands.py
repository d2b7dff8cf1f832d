"""Commands that take what a run left, or a policy: ``export``, ``evaluate`` and ``show``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from promptpo.cli import seeds_command
from promptpo.cli.arguments import (
    AsJson,
    FirstSeed,
    Jobs,
    Output,
    PolicyFile,
    RunDir,
    Trust,
    Weaker,
    write_output,
)
from promptpo.cli.groups import grouped
from promptpo.cli.run_flags import CandidateFlags, EnvFlags
from promptpo.cli.terminal import print_json
from promptpo.display.saying import say
from promptpo.errors import UsageError


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command(epilog="Example: promptpo export runs/CartPole-v1-20260101-120000 -o policy.py")(export)
    app.command(epilog="Example: promptpo evaluate policy.py --env CartPole-v1 --episodes 100 --json")(
        evaluate
    )
    app.command(epilog="Example: promptpo show runs/CartPole-v1-20260101-120000")(show)


@grouped
def export(
    run: RunDir,
    named: CandidateFlags,
    output: Output = None,
    trust: Trust = False,
    world: Annotated[
        Path | None,
        typer.Option(help="Write the run's world model to this file instead, as a Gymnasium environment."),
    ] = None,
    recording: Annotated[
        Path | None,
        typer.Option(help="Write the run's prompts and answers to this .jsonl.xz file instead, for replay:."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a run's best policy as one file.

    Or with --world its world model, or with --recording what was said. Of a folder of --seeds it is the policy that is best by its validation episodes.

    It runs without promptpo. Nothing of the run is executed; --trust is for runs of older versions, which did
    not record the action space, so that the environment must be built.
    """
    from promptpo.output.run_export import export as export_text
    from promptpo.output.run_result import load_run

    name = named.one()
    run = seeds_command.chosen_run(run, name)
    if recording is not None:
        _write_recording(run, recording, as_json=as_json)
        return
    if world is not None:
        from promptpo.output.run_view import read_view
        from promptpo.output.world import exported_world

        text = exported_world(run, read_view(run).config.task.name)
        write_output(text, world, {"run": str(run), "world": str(world)} if as_json else None)
        return
    text = export_text(
        run,
        candidate=None if name == "best" else name,
        filename=output.name if output else "policy.py",
        trust=trust,
    )
    found = load_run(run).data["best"]["candidate"] if name in (None, "best") else name
    facts = {"run": str(run), "candidate": found}
    write_output(text, output, facts if as_json else None)


def _write_recording(run: Path, file: Path, *, as_json: bool) -> None:
    from promptpo.files import write_atomically
    from promptpo.run.recording import SUFFIX, recording

    if not file.name.endswith(SUFFIX):
        raise UsageError(f"--recording takes a file that ends in {SUFFIX}, not {file.name}.")
    write_atomically(file, recording(run))
    if as_json:
        print_json({"run": str(run), "recording": str(file)})
    else:
        print(f"wrote {file}; hear it again with --model replay:{file}")


@grouped
def evaluate(
    policy: PolicyFile,
    environment: EnvFlags,
    episodes: Annotated[int, typer.Option(help="How many.")] = 10,
    seed: FirstSeed = 0,
    jobs: Jobs = 1,
    allow_weaker_sandbox: Weaker = False,
    as_json: AsJson = False,
) -> None:
    """Roll a policy file out in the sandbox. Exit code 0: it ran; 1: it failed; 2: wrong usage.

    Without --env the run or file says the environment. One that is not Gymnasium's own is built for runs that
    were made here; for others that needs --trust.

    A trained agent that promptpo baseline or stable-baselines3 saved (.zip) is played too, outside the
    sandbox: loading one runs what is in the file, so play only agents that you trust.
    """
    from promptpo.cli.show import played
    from promptpo.output.evaluating import evaluate as roll_out

    path, task = environment.for_policy(policy)
    result = roll_out(
        path,
        task,
        episodes=episodes,
        seed=seed,
        jobs=jobs,
        allow_weaker_sandbox=allow_weaker_sandbox,
    )
    if as_json:
        print_json(result.as_json())
    else:
        say(played(result))
    if result.evaluation.outcome != "ok":
        raise typer.Exit(1)


@grouped
def show(
    run: RunDir,
    named: CandidateFlags,
    as_json: AsJson = False,
) -> None:
    """Tell what happened in a run.

    Every candidate, its outcome, and what it cost; of a baseline's run its curve and its test; of a folder of
    --seeds its summary. An experiment is named as it is listed, for example p0.1.
    """
    from promptpo.cli.show import candidate_in_full, candidate_json, overview, overview_json
    from promptpo.output.baseline_run import is_baseline
    from promptpo.seeds import is_folder_of_seeds

    name = named.one()
    if is_folder_of_seeds(run):
        seeds_command.show(run, name, as_json=as_json)
        return
    if is_baseline(run):
        from promptpo.cli.show_baseline import baseline_json, baseline_overview

        if as_json:
            print_json(baseline_json(run, name), indent=2)
        else:
            say(baseline_overview(run, name), prose=not name)
        return
    if as_json:
        print_json(candidate_json(run, name) if name else overview_json(run), indent=2)
    else:
        say(candidate_in_full(run, name) if name else overview(run), prose=not name)
