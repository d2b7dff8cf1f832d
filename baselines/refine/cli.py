"""``promptpo refine``: what it takes, in words. Importing this imports nothing heavy."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from promptpo.cli.arguments import AsJson, EnvOption, Horizon, Quiet, RewardFile, Trust, Weaker

app = typer.Typer(add_completion=False, rich_markup_mode=None)
SCALE = 1.0


@app.command("refine", epilog="Example: promptpo refine runs/mine --steps 100000 --out runs/refined")
def refine_command(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="Run directory, exported file, or bare policy module (with --env)."
        ),
    ],
    steps: Annotated[int, typer.Option(help="Environment steps of training, at most.")] = 100_000,
    out: Annotated[
        Path | None, typer.Option(help="Directory of the result; a new one under runs/ when not given.")
    ] = None,
    algorithm: Annotated[
        str, typer.Option(metavar="ppo|trpo|sac|tqc|crossq", help="Who trains the network.")
    ] = "ppo",
    hyperparams: Annotated[
        str,
        typer.Option(
            metavar="default|zoo|ours|FILE",
            help="As for promptpo baseline; the actor's hidden layers are made to fit into the file.",
        ),
    ] = "ours",
    scale: Annotated[
        float, typer.Option(help="Of what the network adds to a continuous action; 1: half of its range.")
    ] = SCALE,
    seed: Annotated[
        int, typer.Option(help="Decides training seeds, initial weights and sampled actions.")
    ] = 0,
    n_envs: Annotated[
        int | None,
        typer.Option(min=1, help="Environments stepped together; by default what the hyperparameters say."),
    ] = None,
    env_id: EnvOption = None,
    max_episode_steps: Horizon = None,
    reward: RewardFile = None,
    eval_every: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Steps between looks at validation episodes, each with a checkpoint; by default a twentieth of --steps.",
        ),
    ] = None,
    validation_episodes: Annotated[int, typer.Option(min=1, help="Episodes of such a look.")] = 20,
    test_episodes: Annotated[
        int, typer.Option(min=1, help="Held-out episodes for the reported number.")
    ] = 100,
    threads: Annotated[int, typer.Option(min=1, help="Threads of torch.")] = 1,
    device: Annotated[str, typer.Option(help="Where torch computes: cpu, cuda or auto.")] = "cpu",
    allow_weaker_sandbox: Weaker = False,
    trust: Trust = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on with the refinement in --out; more --steps extend a complete one."
        ),
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Train a small network on top of a program, and write both as one file.

    The program's action plus what the network adds is played. DIR/best.py is the best on validation episodes,
    of the program alone and all checkpoints; it needs numpy only. Ctrl-C keeps the best so far.
    """
    from baselines.extras import BASELINES, require

    require(BASELINES, what="refine")
    from baselines.cli import show
    from baselines.progress import choose_display
    from baselines.refine.checking import checked_algorithm, checked_scale
    from baselines.refine.start import prior_of, refine
    from baselines.settings import TrainingSettings
    from promptpo.api import default_directory
    from promptpo.envs.objects import task_of
    from promptpo.errors import UsageError
    from promptpo.program.rewards import read_reward
    from promptpo.run.control import obey_interrupts

    if resume and out is None:
        raise UsageError("--resume needs the directory: --out DIR.")
    trainer = checked_algorithm(algorithm)
    task = None if env_id is None else task_of(env_id)
    source, task, given = prior_of(
        run,
        task,
        scale=checked_scale(scale),
        allow_weaker=allow_weaker_sandbox,
        max_episode_steps=max_episode_steps,
        reward=None if reward is None else read_reward(reward),
        trust=trust,
    )
    settings = TrainingSettings(
        algorithm=trainer,
        task=task,
        steps=steps,
        seed=seed,
        hyperparameters=hyperparams,
        n_envs=n_envs,
        eval_every=eval_every,
        validation_episodes=validation_episodes,
        test_episodes=test_episodes,
        threads=threads,
        device=device,
        prior=given,
    )
    directory = out or default_directory(task)
    obey_interrupts()
    with choose_display(quiet=quiet or as_json) as display:
        try:
            content = refine(
                settings, source, directory, resume=resume, display=display, command=" ".join(sys.argv)
            )
        except KeyboardInterrupt:
            display.line(f"The best so far is in {directory}; the same command with --resume goes on.")
            raise
    show(content, directory, quiet=quiet, as_json=as_json)
    if not (quiet or as_json):
        print(compared(content))


def compared(content: Mapping[str, Any]) -> str:
    """What the network brought, in a sentence."""
    alone, best = content["program"]["validation"], content["validation"]
    if alone["outcome"] != "ok":
        told = "the program alone fails on validation episodes"
    else:
        told = f"the program alone has {alone['mean_return']:.6g} on validation episodes"
    if not content["residual"]["kept"]:
        return f"{told}; no network was better, so the file is the program's"
    share = content["residual"]["share"]
    return f"{told}, with the network {best['mean_return']:.6g}; {share:.1%} of the variance of what is played is the network's"
