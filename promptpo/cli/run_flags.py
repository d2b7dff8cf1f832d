"""The flags of `optimize` and `resume`, in groups.

The groups are read when ``promptpo --help`` is, so nothing heavy is imported here: words that a flag takes are
written out, and a test compares them with the types of `promptpo.run.config`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from promptpo.cli.arguments import (
    AsJson,
    EnvOption,
    Film,
    HeldOutKwargs,
    Horizon,
    Jobs,
    ManyEnvKwargs,
    ModelPrice,
    Quiet,
    RewardFile,
    ShowVariant,
    TasksFile,
    Track,
    Trust,
    Weaker,
    Wrappers,
    task_from_flags,
)
from promptpo.cli.help import HelpAll
from promptpo.cli.terminal import say
from promptpo_sandbox.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo.envs.task import Task
    from promptpo.run.config import Budget


@dataclass(frozen=True, kw_only=True)
class TaskFlags:
    """How the environment is made."""

    env_kwargs: ManyEnvKwargs = None
    max_episode_steps: Horizon = None
    wrapper: Wrappers = None
    tasks: TasksFile = None
    show_variant: ShowVariant = False
    reward: RewardFile = None

    def task(self, env_id: str, held_out_kwargs: Sequence[str] | None = None) -> Task:
        """The task with this environment.

        Raises:
            UsageError: A flag's value cannot be read, or the variants do not fit each other.
        """
        return task_from_flags(
            env_id,
            self.env_kwargs,
            self.max_episode_steps,
            wrappers=self.wrapper,
            tasks=self.tasks,
            held_out_kwargs=held_out_kwargs,
            show_variant=self.show_variant,
            reward=self.reward,
        )


@dataclass(frozen=True, kw_only=True)
class TestedFlags(TaskFlags):
    """How the environment is made, and what only the test sees of it."""

    held_out_kwargs: HeldOutKwargs = None

    def task(self, env_id: str, held_out_kwargs: Sequence[str] | None = None) -> Task:
        """See `TaskFlags.task`."""
        return super().task(env_id, held_out_kwargs or self.held_out_kwargs)


@dataclass(frozen=True, kw_only=True)
class EnvFlags(TaskFlags):
    """An environment for a policy, how it is made, and whether what a file names may be built."""

    env: EnvOption = None
    trust: Trust = False

    def for_policy(self, policy: Path) -> tuple[Path, Task]:
        """The file that a policy is in and its task: the environment that is named, or the one that the policy is from.

        What a file or run makes promptpo import is said before it is imported.

        Raises:
            UsageError: No environment is known, there is no policy, or what it names is not trusted.
        """
        from promptpo.output.policy_file import file_and_task, with_changes
        from promptpo.run.origin import builds, modules_of

        if self.env is not None:
            return file_and_task(policy, self.task(self.env))
        path, task = file_and_task(policy, None, trust=self.trust)
        if modules_of(task):
            say(clean_line(f"playing {path} {builds(task)}"), error=True)
        given = replace(self, show_variant=False).task(task.env_id)  # variants may be those of the policy
        return path, with_changes(task, replace(given, show_variant=self.show_variant))


@dataclass(frozen=True, kw_only=True)
class AskingFlags:
    """Who writes policies, and what they are told and asked."""

    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            help="anthropic[:MODEL], openai[:MODEL], embedded[:MODEL] (small, on this machine), exec:COMMAND, inbox:DIR (answered by hand), replay:RUN, or search (no language model). By default: the provider whose key is set, else search. Repeatable: several share the samples in turn.",
        ),
    ] = None
    repair_model: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Who repairs; by default whoever wrote the policy."),
    ] = None
    recipe: Annotated[
        Literal["default", "paper", "evolve", "model"],
        typer.Option(help="The procedure; see docs/recipes.md."),
    ] = "default"
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="Override one switch of the recipe; repeatable."),
    ] = None
    reveal: Annotated[
        Literal["source", "named", "anonymous", "bare"],
        typer.Option(help="How much the prompt tells about which environment it is."),
    ] = "named"
    spec: Annotated[
        Path | None, typer.Option(help="An edited spec file to show instead of the generated one.")
    ] = None
    hint: Annotated[
        str, typer.Option(metavar="TEXT", help="What you know about the task, in words; in every prompt.")
    ] = ""
    goal: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help='What is to be done, in words, such as "walk backwards without falling": the model writes the reward for it first.',
        ),
    ] = ""
    judge: Annotated[
        Literal["model", "me"],
        typer.Option(
            help="Who says which of two episodes comes closer to --goal before the search: the model, or you, on a page of this machine."
        ),
    ] = "model"
    start: Annotated[
        list[Path] | None,
        typer.Option(
            "--start",
            metavar="POLICY.py",
            help="A policy to begin with, your own or an exported one: a candidate before the first round; repeatable.",
        ),
    ] = None
    teacher: Annotated[
        Path | None,
        typer.Option(
            metavar="AGENT.zip",
            help="A trained agent of stable-baselines3 to beat and to learn from. Loading it runs what is in the file.",
        ),
    ] = None
    base_url: Annotated[
        str | None, typer.Option(help="Address of an OpenAI- or Anthropic-compatible server.")
    ] = None
    no_check: Annotated[
        bool,
        typer.Option(
            "--no-check", help="Do not try the models' keys, servers and names before the run begins."
        ),
    ] = False
    temperature: Annotated[
        float | None, typer.Option(help="Sampling temperature; the provider's default when not given.")
    ] = None
    effort: Annotated[
        Literal["low", "medium", "high"] | None,
        typer.Option(help="How hard a reasoning model thinks; its default when not given."),
    ] = None
    frames: Annotated[
        bool | None,
        typer.Option(
            "--frames/--no-frames",
            help="Show the model film strips of episodes, and first frames where observations are pictures; by "
            "default where it is known to see.",
        ),
    ] = None
    max_output_tokens: Annotated[int, typer.Option(help="Limit for one answer, thinking included.")] = 16_384
    max_prompt_tokens: Annotated[
        int, typer.Option(help="Bound on a prompt; the history is shortened to fit.")
    ] = 24_000
    repairs: Annotated[int, typer.Option(min=0, help="Repair calls for a policy that does not run.")] = 2


@dataclass(frozen=True, kw_only=True)
class TryingFlags:
    """How policies are tried out and their numbers tuned."""

    candidates: Annotated[
        int, typer.Option("--candidates", "-n", help="Policies asked for in each round.")
    ] = 4
    episodes: Annotated[
        int | None,
        typer.Option(
            help="Training episodes per policy; by default 10, fewer where they are long for the step budget."
        ),
    ] = None
    validation_episodes: Annotated[
        int | None,
        typer.Option(
            help="Episodes that choose the best of the run; by default 20, fewer where they are long for the step budget."
        ),
    ] = None
    test_episodes: Annotated[
        int | None,
        typer.Option(
            help="Held-out episodes for the reported number; by default 100, fewer of a policy so slow that they would take more than 10 minutes."
        ),
    ] = None
    seed: Annotated[int, typer.Option(help="Decides training seeds and all that is random on our side.")] = 0
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Make so many runs, with seeds from --seed on, in folders of --out, and a summary; limits hold for each. The same command again goes on.",
        ),
    ] = None
    stop_at: Annotated[
        float | None,
        typer.Option(
            help="Stop when the mean return on validation seeds reaches this; by default the environment's registered threshold."
        ),
    ] = None
    tune: Annotated[
        Literal["cma", "none"], typer.Option(help="cma tunes declared PARAMS between rounds; none does not.")
    ] = "cma"
    no_clip: Annotated[
        bool,
        typer.Option(
            "--no-clip", help="A continuous action out of bounds fails the policy instead of being clipped."
        ),
    ] = False
    jobs: Jobs = 0
    executor: Annotated[
        Literal["local", "ray"],
        typer.Option(
            help="Where rollouts run: local, or ray (RAY_ADDRESS names a cluster; by default one is started here)."
        ),
    ] = "local"
    allow_weaker_sandbox: Weaker = False


Refine: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="STEPS",
        min=1,
        help="Then train a small network from the best program for so many steps, as promptpo refine does.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class BudgetFlags:
    """What a run may spend."""

    rounds: Annotated[int, typer.Option(help="Prompts, at most.")] = 5
    max_steps: Annotated[int, typer.Option(help="Environment steps for everything but the final test.")] = (
        500_000
    )
    max_calls: Annotated[int | None, typer.Option(help="Language-model calls.")] = None
    max_tokens: Annotated[int | None, typer.Option(help="Input plus output tokens.")] = None
    max_usd: Annotated[
        float | None, typer.Option(help="Money; refused for a model without a known price.")
    ] = None
    price: ModelPrice = None
    max_seconds: Annotated[float | None, typer.Option(help="Wall time of this process.")] = None
    refine: Refine = None

    def budget(self) -> Budget:
        """The same as the run's own value."""
        from promptpo.run.config import Budget

        return Budget(
            self.rounds, self.max_steps, self.max_calls, self.max_tokens, self.max_usd, self.max_seconds
        )


@dataclass(frozen=True, kw_only=True)
class NewBudgetFlags:
    """Limits of a run that goes on."""

    rounds: Annotated[int | None, typer.Option(help="New number of rounds.")] = None
    max_steps: Annotated[int | None, typer.Option(help="New limit on environment steps.")] = None
    max_calls: Annotated[int | None, typer.Option(help="New limit on language-model calls.")] = None
    max_tokens: Annotated[int | None, typer.Option(help="New limit on tokens.")] = None
    max_usd: Annotated[float | None, typer.Option(help="New limit on money.")] = None
    price: ModelPrice = None
    max_seconds: Annotated[
        float | None,
        typer.Option(help="New limit on wall time, from now on; the others count the whole run."),
    ] = None
    max_prompt_tokens: Annotated[int | None, typer.Option(min=1, help="New bound on a prompt.")] = None
    max_output_tokens: Annotated[int | None, typer.Option(min=1, help="New limit for one answer.")] = None
    refine: Refine = None


@dataclass(frozen=True, kw_only=True)
class TrustFlags:
    """What a run that was made elsewhere may do, and where."""

    base_url: Annotated[str | None, typer.Option(help="New address of the model's server.")] = None
    allow_weaker_sandbox: Weaker = False
    trust: Trust = False


@dataclass(frozen=True, kw_only=True)
class ShowingFlags:
    """What is shown while a run goes on, and when it ends."""

    track: Track = None
    film: Film = True
    quiet: Quiet = False
    as_json: AsJson = False
    help_all: HelpAll = False
