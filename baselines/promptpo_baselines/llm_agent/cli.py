"""``promptpo baseline llm-agent``."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from promptpo.cli.arguments import (
    AsJson,
    EnvId,
    HeldOutKwargs,
    Horizon,
    ManyEnvKwargs,
    Quiet,
    ShowVariant,
    TasksFile,
    Wrappers,
)
from promptpo.cli.run_flags import TestedFlags
from promptpo.cli.terminal import print_json
from promptpo.errors import UsageError
from promptpo_baselines.icpi_commands import BaseURL, MaxCalls, MaxSeconds, MaxTokens, MaxUSD, Out, Seed

if TYPE_CHECKING:
    from promptpo_baselines.llm_agent.play import AgentEpisode
    from promptpo_baselines.llm_agent.run import AgentConfig, DescribedTask

ENGINES = (
    "completion:MODEL, llamacpp:MODEL or vllm:MODEL (a completion server, with --base-url), embedded:smollm2, or a "
    "chat model: openai:MODEL, anthropic:MODEL, exec:COMMAND, inbox:DIR (by hand)"
)
Engine = Annotated[str | None, typer.Option("--engine", help=f"Who acts: {ENGINES}.")]
ChooseName = Literal["auto", "name", "score"]


def llm_agent(
    env_id: EnvId,
    engine: Engine = None,
    choose: Annotated[
        ChooseName,
        typer.Option(
            help="score: the likeliest of all actions, by log-probabilities; name: what the answer says; auto: score where the server gives them."
        ),
    ] = "auto",
    weigh: Annotated[
        bool,
        typer.Option(
            "--weigh",
            help="Multiply each action's probability by its value in the nearest states of random rollouts (SayCan's rule).",
        ),
    ] = False,
    steps: Annotated[
        int, typer.Option(min=1, help="Random steps that --weigh learns values from; not taken without it.")
    ] = 2000,
    last: Annotated[int, typer.Option(min=0, help="Earlier steps of the episode that a prompt shows.")] = 5,
    temperature: Annotated[
        float, typer.Option(min=0, help="Of the sampling; at 0 the same question is asked once in a run.")
    ] = 0.0,
    seed: Seed = 0,
    test_episodes: Annotated[int, typer.Option(min=1, help="Held-out episodes; each step is a call.")] = 10,
    at_once: Annotated[int, typer.Option(min=1, help="Episodes played side by side.")] = 4,
    beside: Annotated[
        Path | None,
        typer.Option(
            metavar="POLICY",
            help="A policy file or run whose program plays the same episodes, for comparison.",
        ),
    ] = None,
    base_url: BaseURL = None,
    env_kwargs: ManyEnvKwargs = None,
    max_episode_steps: Horizon = None,
    wrapper: Wrappers = None,
    tasks: TasksFile = None,
    show_variant: ShowVariant = False,
    held_out_kwargs: HeldOutKwargs = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_usd: MaxUSD = None,
    max_seconds: MaxSeconds = None,
    out: Out = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only say what the run would take at most.")
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Let a language model act by itself, a call for each step.

    It sees the spec, the last steps and a description of each action. Nothing is learnt; what it costs by
    episode stands beside what a program costs.
    """
    from promptpo.run.config import Budget
    from promptpo_baselines.icpi.engines.choose import FREE_ENGINES, check_model
    from promptpo_baselines.llm_agent.run import AgentConfig, prepare

    if not engine:
        raise UsageError(f"--engine is missing; it is one of {ENGINES}.")
    if engine.partition(":")[0] in FREE_ENGINES:
        raise UsageError(f"{engine} answers the questions of ICPI only; --engine is one of {ENGINES}.")
    config = AgentConfig(
        task=TestedFlags(
            env_kwargs=env_kwargs,
            max_episode_steps=max_episode_steps,
            wrapper=wrapper,
            tasks=tasks,
            show_variant=show_variant,
            held_out_kwargs=held_out_kwargs,
        ).task(env_id),
        engine=engine,
        choose=choose,
        weigh=weigh,
        steps=steps,
        last=last,
        temperature=temperature,
        seed=seed,
        test_episodes=test_episodes,
        at_once=at_once,
        base_url=base_url,
        beside=beside,
        budget=Budget(steps=None, calls=max_calls, tokens=max_tokens, usd=max_usd, seconds=max_seconds),
    )
    if estimate:
        _say_estimate(config, prepare(config), only=True, as_json=as_json)
        return
    check_model(engine, base_url)
    _run(config, out, quiet=quiet, as_json=as_json)


def _run(config: AgentConfig, out: Path | None, *, quiet: bool, as_json: bool) -> None:
    """Say what it takes at most, run, and print the result."""
    from promptpo.api import default_directory
    from promptpo.output.baseline_run import acting_in_words
    from promptpo_baselines.llm_agent.run import prepare, run

    silent = quiet or as_json
    if not silent:
        _say_estimate(config, prepare(config), only=False, as_json=False)
    directory = out or default_directory(config.task)
    observe = _silent if silent else _EpisodeLines(config)
    content = run(config, directory, observe, command=shlex.join(sys.argv))
    if as_json:
        print_json({"run": str(directory), **content})
    elif not quiet:
        print("\n".join([*_summary(content), *acting_in_words(content), f"run: {directory}"]))


def _say_estimate(config: AgentConfig, prepared: DescribedTask, *, only: bool, as_json: bool) -> None:
    from promptpo_baselines.llm_agent.estimate import estimate

    free = config.engine.startswith(("embedded", "llamacpp", "vllm"))
    guess = estimate(config, prepared, free=free)
    if as_json:
        print_json(asdict(guess))
    else:
        print(guess.sentence(config.engine), file=sys.stdout if only else sys.stderr)


class _EpisodeLines:
    """One line for each episode on standard error."""

    def __init__(self, config: AgentConfig) -> None:
        self._planned = config.test_episodes * (2 if config.task.held_out else 1)

    def __call__(self, episode: AgentEpisode, done: int) -> None:
        print(
            f"episode {done}/{self._planned}: return {episode.return_:g}, {episode.steps} steps, "
            f"{episode.calls} calls",
            file=sys.stderr,
        )


def _silent(episode: AgentEpisode, done: int) -> None:
    """Say nothing."""


def _summary(content: dict[str, Any]) -> list[str]:
    from promptpo.telling.feedback import episodes_in_words, number

    test, answers = content["test"], content["answers"]
    lines = [f"llm-agent ({content['model']}) on {content['env_id']}: {content['stop_reason']}"]
    if test["mean_return"] is not None:
        low, high = test["ci95"]
        success = "" if test["success_rate"] is None else f", success {test['success_rate']:.0%}"
        lines.append(
            f"held-out return {number(test['mean_return'])} ({number(low)} to {number(high)}) over "
            f"{episodes_in_words(test['episodes'])}{success}"
        )
    if answers["unreadable"]:
        lines.append(
            f"{answers['unreadable']} of {answers['calls']} answers could not be read; {answers['drawn']} actions were "
            "drawn at random instead"
        )
    return lines
