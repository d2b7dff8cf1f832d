"""The commands of ``promptpo baseline``. Importing this imports nothing heavy."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from promptpo.cli.arguments import EnvId
from promptpo.cli.groups import expand_groups
from promptpo.cli.run_flags import TestedFlags
from promptpo.errors import UsageError, suggest
from promptpo_baselines.algorithms import ALGORITHMS, Algorithm, describe_algorithm, display_name
from promptpo_baselines.flags import MaxSeconds, PlaceFlags, ScoringFlags, TrainingFlags
from promptpo_baselines.icpi_commands import icpi
from promptpo_baselines.llm_agent.cli import llm_agent
from promptpo_baselines.llm_policy.cli import llm_policy
from promptpo_baselines.training_command import run_training

if TYPE_CHECKING:
    from promptpo.envs.task import Task

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Train and score RL algorithms and other baselines.",
    epilog="Example: promptpo baseline ppo CartPole-v1 --max-steps 60000",
)


def main(arguments: Sequence[str]) -> int:
    """Run one command line of ``promptpo baseline`` and return the exit code."""
    from promptpo.cli.app import run

    return run(["baseline", *arguments])


def train_or_score(
    algorithm: str, task: Task, out: Path | None, *, resume: bool, progress: bool, settings: Mapping[str, Any]
) -> tuple[Path, dict[str, Any]]:
    """Train or score a baseline from Python, as its command does; called by `promptpo.baseline`.

    Returns:
        The run directory, and the content of its ``result.json``.

    Raises:
        UsageError: There is no such algorithm or setting, or the directory holds another run.
        MissingExtraError: A package is not installed.
    """
    fixed = ("random", "zero")
    if algorithm not in (*ALGORITHMS, *fixed):
        raise UsageError(f"there is no baseline {algorithm!r}; there are {', '.join((*ALGORITHMS, *fixed))}.")
    flags = [
        "max_steps",
        *(field.name for field in fields(ScoringFlags if algorithm in fixed else TrainingFlags)),
    ]
    known = flags if algorithm in fixed else [*flags, "search"]
    for name in settings:
        if name not in known:
            hint = suggest(name, known, f"there are {', '.join(known)}.")
            raise UsageError(f"{algorithm} has no setting {name!r}; {hint}")
    settings = {{"max_steps": "steps"}.get(name, name): value for name, value in settings.items()}
    directory = PlaceFlags(out=out, resume=resume, quiet=not progress).directory(task)
    if algorithm in fixed:
        from promptpo_baselines.fixed import run_fixed

        return directory, run_fixed(algorithm, task, directory, ScoringFlags(**settings), resume=resume)
    from promptpo_baselines.extras import BASELINES, SEARCHING, require

    require({**BASELINES, **(SEARCHING if settings.get("search") else {})}, what=algorithm)
    from promptpo_baselines.settings import TrainingSettings

    chosen = TrainingSettings(algorithm, task, **settings)  # type: ignore[arg-type] # one of them
    from promptpo_baselines.progress import Display
    from promptpo_baselines.training import train

    with contextlib.closing(Display(quiet=not progress)) as display:
        return directory, train(chosen, directory, resume=resume, display=display)


def _trainer(algorithm: Algorithm) -> Callable[..., None]:
    """Return the command that trains with one algorithm."""

    def command(
        env_id: EnvId,
        training: TrainingFlags,
        task: TestedFlags,
        place: PlaceFlags,
        max_seconds: MaxSeconds = None,
        search: Annotated[
            int,
            typer.Option(
                min=0,
                help="Try N other hyperparameters on training seeds first, with Optuna, in half of --max-steps; the rest trains with the best.",
            ),
        ] = 0,
    ) -> None:
        from promptpo_baselines.extras import BASELINES, SEARCHING, require
        from promptpo_baselines.settings import TrainingSettings

        require({**BASELINES, **(SEARCHING if search else {})}, what=display_name(algorithm))
        settings = TrainingSettings(algorithm, task.task(env_id), search=search, **vars(training))
        run_training(settings, place, max_seconds)

    command.__doc__ = f"""Train {describe_algorithm(algorithm)}.

    The score is the return on held-out seeds.

    The agent that is best on validation seeds is reported and saved as RUN/best_model.zip.
    """
    return expand_groups(command)


def _scorer(method: str, about: str) -> Callable[..., None]:
    """Return the command that scores a method that does not learn."""

    def command(env_id: EnvId, task: TestedFlags, place: PlaceFlags, scoring: ScoringFlags) -> None:
        from promptpo_baselines.fixed import run_fixed

        made = task.task(env_id)
        directory = place.directory(made)
        content = run_fixed(method, made, directory, scoring, resume=place.resume)
        place.show(content, directory)

    command.__doc__ = f"Score {about} on held-out seeds."
    return expand_groups(command)


for _algorithm in ALGORITHMS:
    app.command(_algorithm)(_trainer(_algorithm))
for _name, _about in {"random": "uniformly random actions", "zero": "the zero action, or action 0,"}.items():
    app.command(_name)(_scorer(_name, _about))
for _command in (llm_policy, icpi, llm_agent):
    app.command(_command.__name__.replace("_", "-"))(_command)
