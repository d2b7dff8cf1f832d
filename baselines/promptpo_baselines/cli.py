"""``promptpo baseline``: what each command takes, in words. Importing this imports nothing heavy."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from promptpo.cli.arguments import EnvId
from promptpo.cli.groups import grouped
from promptpo.cli.run_flags import TestedFlags
from promptpo_baselines.flags import MaxSeconds, PlaceFlags, ScoringFlags, TrainingFlags

if TYPE_CHECKING:
    from promptpo_baselines.settings import TrainingSettings

LAZY: Mapping[str, tuple[str, str]] = {
    "llm-policy": ("promptpo_baselines.llm_policy.cli", "llm_policy"),
    "icpi": ("promptpo_baselines.icpi_commands", "icpi"),
    "llm-agent": ("promptpo_baselines.llm_agent.cli", "llm_agent"),
}
"""Commands of other modules, which are imported when they are named: (module, function)."""


class _LazyCommands(TyperGroup):
    """Our own commands, and those of `LAZY`."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names, in the order in which ``--help`` shows them."""
        return [*super().list_commands(ctx), *LAZY]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name; None when there is none."""
        if cmd_name not in LAZY:
            return super().get_command(ctx, cmd_name)
        module, function = LAZY[cmd_name]
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(cmd_name)(getattr(importlib.import_module(module), function))
        return typer.main.get_command(single)


app = typer.Typer(
    cls=_LazyCommands,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Train and score what written policies are compared with.",
    epilog="Example: promptpo baseline ppo CartPole-v1 --steps 60000",
)


def main(arguments: Sequence[str]) -> int:
    """Run one command line of ``promptpo baseline`` and return the exit code."""
    from promptpo.cli.app import run

    return run(["baseline", *arguments])


def _trainer(algorithm: Any, about: str) -> Callable[..., None]:
    """The command that trains with one algorithm."""

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
                help="Try N other hyperparameters on training seeds first, with Optuna, in half of --steps; all else trains with the best.",
            ),
        ] = 0,
    ) -> None:
        from promptpo_baselines.algorithms import called
        from promptpo_baselines.extras import BASELINES, SEARCHING, require

        require({**BASELINES, **(SEARCHING if search else {})}, what=called(algorithm))
        run_training(training.settings(algorithm, task.task(env_id), search=search), place, max_seconds)

    command.__doc__ = f"""Train {about}.

    Its score is that on held-out seeds.

    The agent that is best on validation seeds is reported and saved as RUN/best_model.zip.
    """
    return grouped(command)


def _scorer(method: str, about: str) -> Callable[..., None]:
    """The command that scores a method that does not learn."""

    def command(env_id: EnvId, task: TestedFlags, place: PlaceFlags, scoring: ScoringFlags) -> None:
        from promptpo_baselines.fixed import run_fixed

        made = task.task(env_id)
        directory = place.directory(made)
        content = run_fixed(method, made, directory, scoring, resume=place.resume)
        place.show(content, directory, summary(content, directory))

    command.__doc__ = f"Score {about} on held-out seeds."
    return grouped(command)


def run_training(settings: TrainingSettings, place: PlaceFlags, max_seconds: float | None) -> None:
    """Train by `promptpo_baselines.training.train` with a display that fits, and print the result.

    Raises:
        UsageError: The run cannot be gone on with, or is there already.
    """
    from promptpo.run.control import obey_interrupts
    from promptpo_baselines.progress import Display
    from promptpo_baselines.training import train

    directory = place.directory(settings.task)
    obey_interrupts()
    with contextlib.closing(Display(quiet=place.silent)) as display:
        content = train(
            settings,
            directory,
            resume=place.resume,
            display=display,
            max_seconds=max_seconds,
            trust=place.trust,
        )
    place.show(content, directory, summary(content, directory))


def summary(content: Mapping[str, Any], directory: Path, *more: str) -> list[str]:
    """What a run came to, or why it stopped before that, in a few lines; `more` stands behind its scores."""
    from promptpo.output.outcome import came_out, spent_steps

    test, llm = content.get("test") or {}, content.get("llm") or {}
    what = f"{content['method']} on {content['env_id']}: " if "method" in content else ""
    lines = [f"{what}{content['stop_reason']}"]
    if test.get("mean_return") is not None:
        lines += came_out(content, directory)
    lines += more
    if llm.get("calls"):
        cached = f"{llm['cached_input_tokens']:,} of them cached"
        lines.append(f"{llm['calls']:,} calls, {llm['input_tokens']:,} prompt tokens, {cached}")
    took = f", {content['wall_seconds']:.1f} s" if "wall_seconds" in content else ""
    return [*lines, f"Steps: {spent_steps(content['steps'])}{took}; {directory}"]


for _name, _about in {
    "ppo": "PPO of stable-baselines3",
    "trpo": "TRPO of sb3-contrib",
    "sac": "SAC of stable-baselines3, for continuous actions",
    "tqc": "TQC of sb3-contrib, for continuous actions",
    "crossq": "CrossQ of sb3-contrib, for continuous actions",
    "dqn": "DQN of stable-baselines3, for discrete actions",
    "qrdqn": "QR-DQN of sb3-contrib, for discrete actions",
}.items():
    app.command(_name)(_trainer(_name, _about))
for _name, _about in {"random": "uniformly random actions", "zero": "the zero action, or action 0,"}.items():
    app.command(_name)(_scorer(_name, _about))
