"""Groups of flags shared by the commands that train. Importing this imports nothing heavy."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from promptpo.cli.arguments import AsJson, Quiet, Trust
from promptpo.cli.document import print_json
from promptpo.errors import UsageError
from promptpo.llm.credentials import strip_credentials

if TYPE_CHECKING:
    from promptpo.core.config import Budget
    from promptpo.envs.task import Task

MaxSteps = Annotated[
    int, typer.Option("--max-steps", min=1, help="Environment steps for everything except the final test.")
]
Seed = Annotated[
    int, typer.Option(min=0, help="Seed of training episodes, initial weights and sampled actions.")
]
ValidationEpisodes = Annotated[
    int | None,
    typer.Option(min=1, help="Episodes per evaluation; by default as many as fit, at most 20."),
]
TestEpisodes = Annotated[int, typer.Option(min=1, help="Held-out episodes for the reported score.")]
Device = Annotated[str, typer.Option(help="Device of torch: cpu, cuda or auto.")]
MaxSeconds = Annotated[
    float | None,
    typer.Option(min=0, help="Pause after this many seconds, between two rollouts; --resume continues."),
]


@dataclass(frozen=True, kw_only=True)
class TrainingFlags:
    """Flags of training networks and evaluating them."""

    steps: MaxSteps = 100_000
    seed: Seed = 0
    hyperparameters: Annotated[
        str,
        typer.Option(
            "--hyperparams",
            metavar="default|zoo|ours|FILE",
            help="zoo: tuned values where RL Baselines3 Zoo has them, else ours for the kind of environment, else the library's defaults; ours: our own values where they are better, else as zoo; default: the library's defaults; or a file in the Zoo's format.",
        ),
    ] = "zoo"
    n_envs: Annotated[
        int | None,
        typer.Option(min=1, help="Parallel environments; by default as the hyperparameters say, else 1."),
    ] = None
    eval_every: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Training steps between evaluations, each with a checkpoint; by default a twentieth, or more where evaluations would take over a fifth of --max-steps.",
        ),
    ] = None
    validation_episodes: ValidationEpisodes = None
    test_episodes: TestEpisodes = 100
    threads: Annotated[
        int,
        typer.Option(min=1, help="Threads of torch; one by default, so that parallel runs do not compete."),
    ] = 1
    device: Device = "cpu"
    simulator: Annotated[
        str | None,
        typer.Option(
            "--in",
            metavar="RUN",
            help="Learn in the simulator of this run first (promptpo optimize --simulate), then continue in the real environment.",
        ),
    ] = None
    simulated_steps: Annotated[
        int,
        typer.Option("--in-steps", min=1, help="Simulated steps with --in; --max-steps counts real ones."),
    ] = 200_000


@dataclass(frozen=True, kw_only=True)
class ScoringFlags:
    """Flags of scoring a method that does not learn."""

    steps: Annotated[int, typer.Option("--max-steps", help="Accepted and ignored: nothing is learned.")] = 0
    seed: Seed = 0
    validation_episodes: Annotated[int, typer.Option(min=1, help="Episodes of the validation.")] = 20
    test_episodes: TestEpisodes = 100


def _without_password(address: str | None) -> str | None:
    """Return an address without user and password; a function, since a lambda in an annotation would not find its names."""
    return address and strip_credentials(address)


@dataclass(frozen=True, kw_only=True)
class ModelFlags:
    """Flags of the language model and its budget."""

    engine: Annotated[
        str | None,
        typer.Option(
            help="completion:MODEL, llamacpp:MODEL, embedded:smollm2, or a chat model: openai:MODEL, anthropic:MODEL, "
            "exec:COMMAND; icpi also accepts oracle."
        ),
    ] = None
    base_url: Annotated[
        str | None,
        typer.Option(
            help="Address of the server, usually ending in /v1.",
            callback=_without_password,
        ),
    ] = None
    max_calls: Annotated[int | None, typer.Option(min=1, help="Language-model calls.")] = None
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of input plus output tokens.")
    ] = None
    max_usd: Annotated[
        float | None, typer.Option(min=0, help="Maximum cost in US dollars, for models whose price is known.")
    ] = None
    max_seconds: Annotated[float | None, typer.Option(min=0, help="Wall time.")] = None

    @property
    def budget(self) -> Budget:
        """Limits on calls, tokens, money and time; may change when a run is resumed."""
        from promptpo.core.config import Budget

        return Budget(
            steps=None,
            calls=self.max_calls,
            tokens=self.max_tokens,
            usd=self.max_usd,
            seconds=self.max_seconds,
        )


@dataclass(frozen=True, kw_only=True)
class AgentFlags:
    """Flags of a language model that acts by itself."""

    choose: Annotated[
        Literal["auto", "name", "score"],
        typer.Option(
            help="score: the most likely action by log-probabilities; name: the action that the answer names; auto: score if the server provides log-probabilities."
        ),
    ] = "auto"
    weigh: Annotated[
        bool,
        typer.Option(
            "--weigh",
            help="Multiply each action's probability by its value in the nearest states of random rollouts (SayCan's rule).",
        ),
    ] = False
    steps: Annotated[
        int,
        typer.Option(
            "--max-steps", min=1, help="Random steps from which --weigh learns values; unused without it."
        ),
    ] = 2000
    last: Annotated[int, typer.Option(min=0, help="Number of earlier steps of the episode in a prompt.")] = 5
    temperature: Annotated[
        float,
        typer.Option(min=0, help="Sampling temperature; at 0, identical prompts are sent once per run."),
    ] = 0.0
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random choices.")] = 0
    test_episodes: Annotated[int, typer.Option(min=1, help="Held-out episodes; each step is a call.")] = 10
    at_once: Annotated[int, typer.Option(min=1, help="Episodes played in parallel.")] = 4
    beside: Annotated[
        Path | None,
        typer.Option(
            metavar="POLICY",
            help="A policy file or run that plays the same episodes, for comparison.",
        ),
    ] = None


def without_limits(config: Any) -> dict[str, Any]:
    """Return the fields of a configuration as JSON restores them, except for limits, which may change."""
    values = {name: value for name, value in asdict(config).items() if not name.startswith("max_")}
    kept: dict[str, Any] = json.loads(json.dumps(values, default=str))
    return kept


@dataclass(frozen=True, kw_only=True)
class Place:
    """Flags of where a run is stored and what is shown of it."""

    out: Annotated[Path | None, typer.Option(help="Run directory; by default a new one under runs/.")] = None
    quiet: Quiet = False
    as_json: AsJson = False

    @property
    def silent(self) -> bool:
        """Whether nothing is shown during the run."""
        return self.quiet or self.as_json

    def directory(self, task: Task) -> Path:
        """Return the run directory; a new one if none is named."""
        from promptpo.api import default_directory

        return self.out or default_directory(task)

    def show(self, content: Mapping[str, Any], directory: Path, *more: str) -> None:
        """Print a result, as JSON or in lines; `more` follows its scores."""
        if self.as_json:
            print_json({"run": str(directory), **content})
        elif not self.quiet:
            print("\n".join(_summary(content, directory, *more)))


@dataclass(frozen=True, kw_only=True)
class AskingPlaceFlags(Place):
    """The same for a run that queries a model; repeating the command continues it."""

    estimate: Annotated[bool, typer.Option("--estimate", help="Show what the run would take, and exit.")] = (
        False
    )

    def announce(self, guess: Any, model: str, task: Task) -> Path | None:
        """Print the maximum cost of a run, a `CallEstimate`; return the run directory, or None if only the estimate was requested."""
        if self.estimate and self.as_json:
            print_json(asdict(guess))
        elif self.estimate:
            print(guess.sentence(model))
        elif guess.most_usd != 0:
            self.tell(guess.sentence(model))
        return None if self.estimate else self.directory(task)

    def tell(self, line: str) -> None:
        """Print a line during the run."""
        if not self.silent:
            print(line, file=sys.stderr)


@dataclass(frozen=True, kw_only=True)
class PlaceFlags(Place):
    """The same for a run that is continued by naming its directory."""

    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Continue the run in --out; a higher --max-steps extends a complete one."
        ),
    ] = False
    trust: Trust = False

    def __post_init__(self) -> None:
        if self.resume and self.out is None:
            raise UsageError("--resume needs the run directory: --out DIR.")


def _summary(content: Mapping[str, Any], directory: Path, *more: str) -> list[str]:
    """Summarise a run, or why it stopped early, in a few lines; `more` follows its scores."""
    from promptpo.envs.task import label_of
    from promptpo.output.outcome import describe_test, spent_steps

    test, llm = content.get("test") or {}, content.get("llm") or {}
    what = f"{content['method']} on {label_of(content['env_id'])}: " if "method" in content else ""
    lines = [f"{what}{content['stop_reason']}"]
    if test.get("mean_return") is not None:
        lines += describe_test(content, directory)
    lines += more
    if llm.get("calls"):
        cached = f"{llm['cached_input_tokens']:,} of them cached"
        lines.append(f"{llm['calls']:,} calls, {llm['input_tokens']:,} prompt tokens, {cached}")
    took = f", {content['wall_seconds']:.1f} s" if "wall_seconds" in content else ""
    return [*lines, f"Steps: {spent_steps(content['steps'])}{took}; {directory}"]
