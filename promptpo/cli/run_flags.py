"""The flags of `optimize` and `resume`: those for settings, made from `run_settings`, and groups of others.

``promptpo --help`` reads all of them, so nothing heavy is imported here.
"""

from __future__ import annotations

import inspect
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from promptpo.cli.arguments import (
    AsJson,
    EnvOption,
    Film,
    HeldOutKwargs,
    Horizon,
    ManyEnvKwargs,
    Quiet,
    RewardFile,
    ShowVariant,
    TasksFile,
    Track,
    Trust,
    Wrappers,
    json_object,
)
from promptpo.cli.groups import HelpAll
from promptpo.core.feature import run_settings
from promptpo.display.console import tell
from promptpo.errors import UsageError
from promptpo.settings import RunSetting

if TYPE_CHECKING:
    from promptpo.envs.task import Task


@dataclass(frozen=True, kw_only=True)
class TaskFlags:
    """Flags for building the environment."""

    env_kwargs: ManyEnvKwargs = None
    max_episode_steps: Horizon = None
    wrapper: Wrappers = None
    tasks: TasksFile = None
    show_variant: ShowVariant = False
    reward: RewardFile = None

    @property
    def held_out(self) -> Sequence[str]:
        """Arguments of held-out variants, as JSON objects."""
        return ()

    def task(self, env_id: str) -> Task:
        """Return the task with this environment.

        A single ``--env-kwargs`` has the environment's arguments. If it is repeated, or there are held-out ones, each
        is a variant.

        Raises:
            UsageError: A flag's value cannot be parsed, or the variants are inconsistent.
        """
        from promptpo.envs.objects import task_of

        variants: Sequence[Any] = [json_object(text, "--env-kwargs") for text in self.env_kwargs or ()]
        held_out: Sequence[Any] = [json_object(text, "--held-out-kwargs") for text in self.held_out]
        base: dict[str, Any] = {}
        if len(variants) == 1 and not held_out:
            (base,), variants = variants, ()
        if self.tasks is not None:
            if variants or held_out:
                raise UsageError(
                    "name the variants either in --tasks or with --env-kwargs and --held-out-kwargs, not both."
                )
            from promptpo.envs.task_file import read_tasks

            variants, held_out = read_tasks(self.tasks)
        task = task_of(
            env_id,
            base,
            self.max_episode_steps,
            wrappers=self.wrapper or (),
            variants=variants or [{}] * bool(held_out),
            held_out=held_out,
            show_variant=self.show_variant,
        )
        if self.reward is None:
            return task
        from promptpo.program.reward_program import read_reward

        return replace(task, reward=read_reward(self.reward))


@dataclass(frozen=True, kw_only=True)
class TestedFlags(TaskFlags):
    """Flags for building the environment and its held-out variants."""

    held_out_kwargs: HeldOutKwargs = None

    @property
    def held_out(self) -> Sequence[str]:
        """See `TaskFlags.held_out`."""
        return self.held_out_kwargs or ()


@dataclass(frozen=True, kw_only=True)
class EnvFlags(TaskFlags):
    """Flags for the environment of a policy, and for trusting the one that its file names."""

    env: EnvOption = None
    trust: Trust = False

    def for_policy(self, policy: Path) -> tuple[Path, Task]:
        """Return the file of a policy and its task, with the named environment or the policy's own.

        Imports that a file or run requires are announced before they happen.

        Raises:
            UsageError: There is no policy or no known environment, or the policy's environment is not trusted.
        """
        from promptpo.output.policy_file import NAMELESS, file_and_task, files_of, with_changes
        from promptpo.run.origin import builds, describe_changed_files

        named = self.task(self.env) if self.env is not None else None
        path, task = file_and_task(policy, named, trust=self.trust)
        if named is not None:
            return path, task
        if task.modules:
            tell(f"playing {path} {builds(task)}", error=True)
        if changed := describe_changed_files(files_of(path)):
            tell(changed, error=True)
        given = replace(self, show_variant=False).task(NAMELESS)  # the policy's task may have variants
        return path, with_changes(task, replace(given, show_variant=self.show_variant))


CandidateName: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="CANDIDATE",
        help="A candidate as listed by show, for example r2c3; an experiment, for example p0.1; or best.",
    ),
]


def setting_flags(*, resumed: bool = False, only: Container[str] | None = None) -> list[inspect.Parameter]:
    """Return the flags of a run's settings: of all, of those that `resume` may change if `resumed`, or of those in `only`."""
    return [
        _flag(setting, resumed=resumed)
        for setting in run_settings()
        if (setting.resumed or not resumed) and (only is None or setting.name in only)
    ]


def _flag(setting: RunSetting, *, resumed: bool) -> inspect.Parameter:
    flags = (setting.flags or f"--{setting.keyword.replace('_', '-')}").split()
    of, default = setting.words or setting.type, setting.default
    if setting.words:
        of, default = of | None, None
    elif setting.negated:
        default = False
    elif resumed and of is not bool:
        of, default = of | None, None
    option = typer.Option(
        *flags,
        help=setting.help.removeprefix("False: "),
        rich_help_panel=setting.group,
        metavar=setting.metavar,
        min=setting.least,
    )
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(setting.keyword, kind, default=default, annotation=Annotated[of, option])


class NewSettings(dict[str, Any]):
    """Settings of a new run given as flags, by parameter name."""

    flags = setting_flags()

    def read(self, *, named: bool = False) -> dict[str, Any]:
        """Return settings by their keywords, or by the names of their fields if `named`, as `resume` takes them.

        Raises:
            UsageError: A value cannot be parsed.
        """
        found = {}
        for setting in run_settings():
            if setting.keyword in self:
                value = self[setting.keyword]
                value = setting.read(value) if setting.read is not None else value
                found[setting.name if named else setting.keyword] = not value if setting.negated else value
        return found


class SpecSettings(NewSettings):
    """Settings that determine the content of a spec."""

    flags = setting_flags(only=("reveal",))


class ChangedSettings(NewSettings):
    """Settings of a resumed run given as flags."""

    flags = setting_flags(resumed=True)


Refine: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="STEPS",
        min=1,
        help="Afterwards, train a small network from the best program for this many steps, as promptpo refine does.",
        rich_help_panel="Search",
    ),
]


@dataclass(frozen=True, kw_only=True)
class MoreFlags:
    """Flags for work beyond one search."""

    seeds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Make this many runs with consecutive seeds from --seed, in subfolders of --out, and a summary; limits apply to each. Repeat the command to continue.",
            rich_help_panel="Search",
        ),
    ] = None
    refine: Refine = None


Out: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="Run directory; by default a new one under runs/.", rich_help_panel="Output"),
]
Estimate: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--estimate",
        help="Estimate the steps, calls and cost of the run, and exit.",
        rich_help_panel="Output",
    ),
]


@dataclass(frozen=True, kw_only=True)
class ShowingFlags:
    """Flags for the output during a run and at its end."""

    track: Track = None
    film: Film = True
    quiet: Quiet = False
    as_json: AsJson = False
    help_all: HelpAll = False
