"""Commands for a run's results or a policy: ``export``, ``evaluate`` and ``show``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from promptpo.cli import multi_seed_output
from promptpo.cli.arguments import (
    AsJson,
    EnvOption,
    FirstSeed,
    Jobs,
    Output,
    PolicyFile,
    RunDir,
    Trust,
    Weaker,
    write_output,
)
from promptpo.cli.document import answer, print_json
from promptpo.cli.groups import expand_groups
from promptpo.cli.run_flags import CandidateName, EnvFlags
from promptpo.display.console import say
from promptpo.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class FileContent:
    """Flags for the contents of an exported file."""

    env: EnvOption = None
    trust: Trust = False
    confined: Annotated[
        bool,
        typer.Option(
            "--confined",
            help="Make the file confine the policy when it is run as a program on Linux; adds 12 kB and 0.2 s of start-up time.",
        ),
    ] = False


@expand_groups
def export(
    run: RunDir,
    content: FileContent,
    candidate: CandidateName = None,
    output: Output = None,
    recording: Annotated[
        Path | None,
        typer.Option(help="Write the run's prompts and answers to this .jsonl.xz file instead, for replay:."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a run's best policy as one file.

    With --recording, write the run's prompts and answers instead. For a folder of --seeds, export the policy that is best on its validation episodes.

    The exported file runs without promptpo. Exporting executes nothing from the run. The file builds the environment that the run names; for a
    run that was not made here this requires --trust or --env, unless the environment comes with Gymnasium.
    """
    from promptpo.output.run_result import export as exported_policy
    from promptpo.output.run_view import read_view

    run = multi_seed_output.select_run(run, candidate)
    if recording is not None:
        _write_recording(run, recording, as_json=as_json)
        return
    text = exported_policy(
        run,
        candidate=candidate,
        filename=output.name if output else "policy.py",
        env_id=content.env,
        trust=content.trust,
        confined=content.confined,
    )
    facts = {"run": str(run), "candidate": read_view(run).candidate(candidate or "best").id}
    write_output(text, output, facts if as_json else None)


def _write_recording(run: Path, file: Path, *, as_json: bool) -> None:
    from promptpo.files import write_named
    from promptpo.run.recording import SUFFIX, recording

    if not file.name.endswith(SUFFIX):
        raise UsageError(f"--recording takes a file that ends in {SUFFIX}, not {file.name}.")
    write_named(file, recording(run))
    text = f"wrote {file}; replay it with --model replay:{file}"
    answer({"run": str(run), "recording": str(file)}, text, as_json=as_json)


@expand_groups
def evaluate(
    policy: PolicyFile,
    environment: EnvFlags,
    episodes: Annotated[int, typer.Option(help="Number of episodes.")] = 10,
    seed: FirstSeed = 0,
    jobs: Jobs = 1,
    allow_weaker_sandbox: Weaker = False,
    as_json: AsJson = False,
) -> None:
    """Evaluate a policy file in the sandbox. Exit code 0: it ran; 1: it failed, or its mean return is not finite; 2: usage error.

    Without --env, the run or file names the environment. One that does not come with Gymnasium is built only for runs that
    were made here; other runs require --trust.

    A trained agent that promptpo baseline or stable-baselines3 saved (.zip) is played too, outside the
    sandbox: loading one executes code from the file, so play only agents that you trust.
    """
    from promptpo.cli.show import answer_evaluation
    from promptpo.output.evaluating import evaluate as roll_out

    path, task = environment.for_policy(policy)
    answer_evaluation(
        roll_out(
            path,
            task,
            episodes=episodes,
            seed=seed,
            jobs=jobs,
            allow_weaker_sandbox=allow_weaker_sandbox,
        ),
        as_json=as_json,
    )


@expand_groups
def show(
    run: RunDir,
    candidate: CandidateName = None,
    as_json: AsJson = False,
) -> None:
    """Show what happened in a run.

    Lists every candidate with its outcome and cost; for a baseline's run, its learning curve and test; for a folder of
    --seeds, its summary. Name an experiment as it is listed, for example p0.1.
    """
    from promptpo.cli.show import candidate_in_full, candidate_json, overview, overview_json
    from promptpo.multi_seed import is_folder_of_seeds
    from promptpo.output.baseline_run import is_baseline

    if is_folder_of_seeds(run):
        multi_seed_output.show(run, candidate, as_json=as_json)
        return
    if candidate and is_baseline(run):
        raise UsageError(f"{run} is the run of a baseline, which has an agent and no candidates.")
    if candidate:
        shown: Any = candidate_json(run, candidate) if as_json else candidate_in_full(run, candidate)
    else:
        shown = overview_json(run) if as_json else overview(run)
    if as_json:
        print_json(shown, indent=2)
    else:
        say(shown, prose=not candidate)
