"""``promptpo baseline icpi``: what it takes, in words."""

from __future__ import annotations

import re
import sys
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from promptpo.cli.arguments import AsJson, EnvKwargs, Horizon, Quiet, json_object
from promptpo.cli.terminal import print_json
from promptpo.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo.run.config import Budget
    from promptpo_baselines.icpi.profile import Profile
    from promptpo_baselines.icpi.run import RunConfig
    from promptpo_baselines.icpi.setting import Setting
    from promptpo_baselines.icpi.values import EpisodeLog

DEFAULT_STEPS = 200

Environment = Annotated[
    str,
    typer.Argument(
        metavar="ENV_ID",
        help="promptpo/Chain-v0, DistractorChain, Maze, MiniCatch, MiniInvaders or PointMass, or any "
        "environment with Discrete actions and small observations.",
    ),
]
EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="oracle, lookup, completion:MODEL, llamacpp:MODEL, vllm:MODEL, embedded:smollm2, or a chat "
        "model: openai:MODEL, anthropic:MODEL, exec:COMMAND.",
    ),
]
ProfileChoice = Literal["paper", "fast"]
"""Names of `promptpo_baselines.icpi.profile.PROFILES`, and below of `Method`: written out, since nothing heavy is imported here."""

ProfileName = Annotated[
    ProfileChoice,
    typer.Option("--profile", help="paper (one question at a time) or fast (batches, frozen examples)."),
]
BaseURL = Annotated[str | None, typer.Option(help="Address of the server, usually ending in /v1.")]
Seed = Annotated[int, typer.Option(min=0, help="Decides everything that is drawn.")]
PromptTokens = Annotated[int, typer.Option(min=50, help="Budget of a prompt; whole examples are left out.")]
MaxCalls = Annotated[int | None, typer.Option(min=1, help="Language-model calls.")]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="Input plus output tokens.")]
MaxUSD = Annotated[float | None, typer.Option(min=0, help="Money, for models whose price is known.")]
MaxSeconds = Annotated[float | None, typer.Option(min=0, help="Wall time.")]
Steps = Annotated[
    int | None, typer.Option(min=1, help="Training steps; those of the paper's figure by default.")
]
Out = Annotated[Path | None, typer.Option(help="Run directory; the same command again goes on with it.")]
NoConstraint = Annotated[
    bool, typer.Option("--no-constraint", help="Examples with any action and termination.")
]
Randomize = Annotated[
    list[str] | None,
    typer.Option(metavar="KIND", help="Answer done, reward, next or policy at random; repeatable."),
]
MethodName = Literal["icpi", "no-argmax", "tabular-q", "matching", "random"]
Gamma = Annotated[float | None, typer.Option(min=0, max=1, help="Discount inside imagined rollouts.")]
BootstrapTerminal = Annotated[
    bool, typer.Option("--bootstrap-terminal", help="The released Tabular Q's update at the end.")
]


def icpi(
    env_id: Environment,
    engine: EngineName = None,
    profile: ProfileName = "fast",
    method: Annotated[MethodName, typer.Option(help="What acts.")] = "icpi",
    steps: Steps = None,
    seed: Seed = 0,
    out: Out = None,
    test_episodes: Annotated[int, typer.Option(min=0, help="Held-out episodes, without learning.")] = 20,
    base_url: BaseURL = None,
    env_kwargs: EnvKwargs = "{}",
    max_episode_steps: Horizon = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_usd: MaxUSD = None,
    max_seconds: MaxSeconds = None,
    prompt_tokens: PromptTokens = 3800,
    context: Annotated[int, typer.Option(min=1, help="Latest episodes that the policy prompt shows.")] = 8,
    no_hint: Annotated[bool, typer.Option("--no-hint", help="States without comparisons.")] = False,
    no_balance: Annotated[bool, typer.Option("--no-balance", help="Rare answers stay rare.")] = False,
    no_constraint: NoConstraint = False,
    randomize: Randomize = None,
    gamma: Gamma = None,
    max_rollout: Annotated[int | None, typer.Option(min=1, help="Longest imagined rollout.")] = None,
    decimals: Annotated[int, typer.Option(min=0, max=6, help="Of observations that are not integers.")] = 2,
    bootstrap_terminal: BootstrapTerminal = False,
    estimate: Annotated[bool, typer.Option("--estimate", help="Only say what the run would take.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Act by asking a language model at each step, as ICPI does."""
    from promptpo_baselines.icpi.assembly import WITH_ENGINE
    from promptpo_baselines.icpi.engines.choose import HELP
    from promptpo_baselines.icpi.run import RunConfig
    from promptpo_baselines.icpi.setting import setting_for

    setting = setting_for(
        env_id,
        env_kwargs=json_object(env_kwargs, "--env-kwargs"),
        max_episode_steps=max_episode_steps,
        gamma=gamma,
        max_rollout=max_rollout,
        decimals=decimals,
    )
    if method in WITH_ENGINE and not engine:
        raise UsageError(f"--engine is missing; it is one of: {HELP}")
    config = RunConfig(
        method=method,
        engine=engine or "",
        profile_name=profile,
        profile=replace(
            _profile(profile, prompt_tokens, randomize or []),
            context=context,
            hint=not no_hint,
            balance=not no_balance,
            constrain=not no_constraint,
        ),
        steps=steps or (setting.domain.figure_steps if setting.domain else DEFAULT_STEPS),
        seed=seed,
        test_episodes=test_episodes,
        base_url=base_url,
        bootstrap_terminal=bootstrap_terminal,
        budget=_budget(max_calls, max_tokens, max_usd, max_seconds),
    )
    if estimate:
        _say_estimate(setting, config, only=True, as_json=as_json)
    else:
        _run(setting, config, out or _new_directory(env_id), quiet=quiet, as_json=as_json)


def _run(setting: Setting, config: RunConfig, directory: Path, *, quiet: bool, as_json: bool) -> None:
    """Run, with an estimate before it where it costs something, and print the result."""
    from promptpo_baselines.icpi.assembly import WITH_ENGINE
    from promptpo_baselines.icpi.engines.choose import check_engine, is_paid
    from promptpo_baselines.icpi.run import run

    silent = quiet or as_json
    if config.method in WITH_ENGINE:
        check_engine(config.engine, setting, config.base_url)
        if is_paid(config.engine) and not silent:
            _say_estimate(setting, config, only=False, as_json=False)
    content = run(setting, config, directory, _silent if silent else _Progress(config.steps))
    if as_json:
        print_json({"run": str(directory), **content})
    elif not quiet:
        print(_summary(content, directory))


def _profile(name: ProfileChoice, prompt_tokens: int, randomize: Sequence[str]) -> Profile:
    from promptpo_baselines.icpi.profile import PROFILES
    from promptpo_baselines.icpi.values import KINDS

    wrong = next((kind for kind in randomize if kind not in KINDS), None)
    if wrong is not None:  # Typer takes no list of words that are written out
        raise UsageError(f"--randomize takes {', '.join(KINDS)}, not {wrong!r}.")
    kinds = frozenset(kind for kind in KINDS if kind in randomize)
    return replace(PROFILES[name], prompt_tokens=prompt_tokens, randomize=kinds)


def _budget(calls: int | None, tokens: int | None, usd: float | None, seconds: float | None) -> Budget:
    from promptpo.run.config import Budget

    return Budget(steps=None, calls=calls, tokens=tokens, usd=usd, seconds=seconds)


def _new_directory(env_id: str) -> Path:
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", env_id).strip("-")
    return Path("runs") / f"icpi-{name}-{datetime.now(UTC):%Y%m%d-%H%M%S-%f}"


def _say_estimate(setting: Setting, config: RunConfig, *, only: bool, as_json: bool) -> None:
    from promptpo_baselines.icpi.engines.choose import is_paid
    from promptpo_baselines.icpi.estimate import estimate

    env = setting.make_env()
    limit = env.spec.max_episode_steps if env.spec else None
    env.close()
    guess = estimate(
        setting,
        config.method,
        config.profile,
        steps=config.steps,
        test_episodes=config.test_episodes,
        episode_steps=limit,
        model=config.engine or config.method,
        free=not is_paid(config.engine) or config.engine.startswith(("embedded", "llamacpp", "vllm")),
    )
    if only and as_json:
        print_json(asdict(guess))
    else:
        text = guess.sentence(config.engine or config.method)
        print(text, file=sys.stdout if only else sys.stderr)


class _Progress:
    """One line per episode on standard error."""

    def __init__(self, steps: int) -> None:
        self._steps, self._episodes = steps, 0

    def __call__(self, log: EpisodeLog) -> None:
        self._episodes += 1
        regret = "" if log.regret is None else f", regret {log.regret:.2f}"
        print(
            f"step {log.end_step}/{self._steps}, episode {self._episodes}: return {log.return_:g}{regret}",
            file=sys.stderr,
        )


def _silent(log: EpisodeLog) -> None:
    """Say nothing."""


def _summary(content: dict[str, Any], directory: Path) -> str:
    test, regret = content["test"], content["regret_last_quarter"]
    lines = [f"{content['env_id']}, {content['method']}: {content['stop_reason']}"]
    if regret is not None:
        lines.append(f"mean regret in the last quarter of training: {regret:.3f}")
    if test["mean_return"] is not None:
        low, high = test["ci95"]
        lines.append(
            f"held-out return: {test['mean_return']:.3f} [{low:.3f}, {high:.3f}], {test['episodes']} episodes"
        )
    llm = content["llm"]
    if llm["calls"]:
        lines.append(
            f"{llm['calls']} calls, {llm['input_tokens']:,} prompt tokens, {llm['cached_tokens']:,} of them cached"
        )
    return "\n".join([*lines, f"run: {directory}"])
