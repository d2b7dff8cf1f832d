"""The command ``promptpo refine``. Importing this imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from promptpo.cli.arguments import EnvOption, Horizon, RewardFile, Weaker
from promptpo.cli.groups import expand_groups
from promptpo_baselines.flags import PlaceFlags, TrainingFlags
from promptpo_baselines.training_command import run_training

if TYPE_CHECKING:
    from promptpo.envs.task import Task

app = typer.Typer(add_completion=False, rich_markup_mode=None)
SCALE = 1.0


@dataclass(frozen=True, kw_only=True)
class RefiningFlags(TrainingFlags):
    """Flags of training the network of a program."""

    hyperparameters: Annotated[
        str,
        typer.Option(
            "--hyperparams",
            metavar="default|zoo|ours|FILE",
            help="As for promptpo baseline; the actor's hidden layers are shrunk to fit into the file.",
        ),
    ] = "ours"


@dataclass(frozen=True, kw_only=True)
class ProgramFlags:
    """Flags for the program that is refined."""

    env_id: EnvOption = None
    max_episode_steps: Horizon = None
    reward: RewardFile = None
    allow_weaker_sandbox: Weaker = False

    def prior(self, run: Path, scale: float, *, trust: bool) -> tuple[Task, dict[str, Any]]:
        """See `promptpo_baselines.refine.start.prior_of`."""
        from promptpo.envs.objects import task_of
        from promptpo.program.reward_program import read_reward
        from promptpo_baselines.refine.start import prior_of

        return prior_of(
            run,
            None if self.env_id is None else task_of(self.env_id),
            scale=scale,
            allow_weaker=self.allow_weaker_sandbox,
            max_episode_steps=self.max_episode_steps,
            reward=None if self.reward is None else read_reward(self.reward),
            trust=trust,
        )


@app.command("refine", epilog="Example: promptpo refine runs/mine --max-steps 100000 --out runs/refined")
@expand_groups
def refine_command(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="Run directory, exported file, or bare policy module (with --env)."
        ),
    ],
    program: ProgramFlags,
    training: RefiningFlags,
    place: PlaceFlags,
    algorithm: Annotated[
        Literal["auto", "ppo", "trpo", "sac", "tqc", "crossq"],
        typer.Option(
            help="Algorithm that trains the network; auto: crossq for continuous actions, otherwise ppo.",
        ),
    ] = "auto",
    scale: Annotated[
        float,
        typer.Option(
            help="Scale of the residual that the network adds to a continuous action; 1: half of the action's range."
        ),
    ] = SCALE,
    alone: Annotated[
        bool | None,
        typer.Option(
            "--alone/--added",
            help="Train a standalone network, first on episodes of the program (sac, tqc, crossq), or a residual network, whose "
            "output is added to the program's action. By default alone for 30,000 steps or more, where possible.",
        ),
    ] = None,
) -> None:
    """Train a small network from a program and write both to one file.

    The network learns from the program's episodes and acts alone, or adds to the program's action. DIR/best.py
    is the best on validation episodes among the program and all checkpoints; it needs only numpy. Ctrl-C
    keeps the best so far.
    """
    from promptpo_baselines.extras import BASELINES, require

    require(BASELINES, what="refine")
    from promptpo_baselines.refine.checking import check_scale, describe_gain
    from promptpo_baselines.refine.start import choose_training
    from promptpo_baselines.settings import TrainingSettings

    task, given = program.prior(run, check_scale(scale), trust=place.trust)
    trainer = choose_training(algorithm, alone, task, place.directory(task), given, training.steps)
    run_training(TrainingSettings(trainer, task, prior=given, **vars(training)), place, told=describe_gain)
