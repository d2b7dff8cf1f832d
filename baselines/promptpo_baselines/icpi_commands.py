"""``promptpo baseline icpi``: what it takes, in words."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from promptpo.cli.arguments import EnvKwargs, Horizon, json_object
from promptpo.cli.groups import grouped
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo_baselines.flags import AskingPlaceFlags, ModelFlags, held_out_in_words
from promptpo_baselines.icpi.profile import Profile
from promptpo_baselines.icpi.run import IcpiFlags, RunConfig, run
from promptpo_baselines.icpi.setting import Setting, setting_for

if TYPE_CHECKING:
    from promptpo_baselines.icpi.values import EpisodeLog

Environment = Annotated[
    str,
    typer.Argument(
        metavar="ENV_ID",
        help="promptpo/Chain-v0, DistractorChain, Maze, MiniCatch, MiniInvaders or PointMass, or any "
        "environment with Discrete actions and small observations.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class SettingFlags:
    """What it acts in."""

    env_kwargs: EnvKwargs = "{}"
    max_episode_steps: Horizon = None
    gamma: Annotated[float | None, typer.Option(min=0, max=1, help="Discount inside imagined rollouts.")] = (
        None
    )
    max_rollout: Annotated[int | None, typer.Option(min=1, help="Longest imagined rollout.")] = None
    decimals: Annotated[int, typer.Option(min=0, max=6, help="Of observations that are not integers.")] = 2

    def setting(self, env_id: str) -> Setting:
        """See `setting_for`."""
        return setting_for(
            env_id, **{**vars(self), "env_kwargs": json_object(self.env_kwargs, "--env-kwargs")}
        )


@grouped
def icpi(
    env_id: Environment,
    model: ModelFlags,
    profile: Profile,
    flags: IcpiFlags,
    world: SettingFlags,
    place: AskingPlaceFlags,
) -> None:
    """Act by asking a language model at each step, as ICPI does."""
    from promptpo_baselines.icpi.assembly import WITH_ENGINE
    from promptpo_baselines.icpi.engines.choose import HELP, check_engine, is_paid
    from promptpo_baselines.icpi.estimate import estimate

    setting = world.setting(env_id)
    if flags.method in WITH_ENGINE and not model.engine:
        raise UsageError(f"--engine is missing; it is one of: {HELP}")
    steps = flags.steps or setting.rules.figure_steps
    config = RunConfig(**{**vars(flags), **vars(model), "steps": steps, "profile": profile})
    with contextlib.closing(setting.make_env()) as env:
        limit = env.spec.max_episode_steps if env.spec else None
    guess, name = estimate(setting, config, episode_steps=limit), config.engine or config.method
    if place.estimate:
        place.estimated(guess, name)
        return
    if config.method in WITH_ENGINE:
        check_engine(name, setting, config.base_url)
        if is_paid(name) and not place.silent:
            print(guess.sentence(name), file=sys.stderr)
    directory = place.directory(Task(f"icpi-{setting.env_id}"))
    content = run(setting, config, directory, (lambda _: None) if place.silent else _Progress(steps))
    place.show(content, directory, [*_summary(content), f"run: {directory}"])


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


def _summary(content: dict[str, Any]) -> list[str]:
    test, regret, llm = content["test"], content["regret_last_quarter"], content["llm"]
    lines = [f"{content['env_id']}, {content['method']}: {content['stop_reason']}"]
    if regret is not None:
        lines.append(f"mean regret in the last quarter of training: {regret:.3f}")
    if test["mean_return"] is not None:
        lines.append(held_out_in_words(test))
    if llm["calls"]:
        lines.append(
            f"{llm['calls']} calls, {llm['input_tokens']:,} prompt tokens, {llm['cached_input_tokens']:,} of them cached"
        )
    return lines
