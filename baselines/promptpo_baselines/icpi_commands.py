"""``promptpo baseline icpi``: what it takes, in words."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from promptpo.cli.arguments import EnvKwargs, Horizon, json_object
from promptpo.cli.document import print_json
from promptpo.cli.groups import grouped
from promptpo.errors import UsageError
from promptpo_baselines.flags import AskingPlaceFlags, ModelFlags
from promptpo_baselines.icpi.profile import Profile
from promptpo_baselines.icpi.run import DEFAULT_STEPS, IcpiFlags, RunConfig, run
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

    setting, silent = world.setting(env_id), place.quiet or place.as_json
    if flags.method in WITH_ENGINE and not model.engine:
        raise UsageError(f"--engine is missing; it is one of: {HELP}")
    steps = flags.steps or (setting.domain.figure_steps if setting.domain else DEFAULT_STEPS)
    config = RunConfig(**{**vars(flags), **vars(model), "steps": steps, "profile": profile})
    if place.estimate:
        _say_estimate(setting, config, only=True, as_json=place.as_json)
        return
    if config.method in WITH_ENGINE:
        check_engine(str(config.engine), setting, config.base_url)
        if is_paid(str(config.engine)) and not silent:
            _say_estimate(setting, config, only=False, as_json=False)
    directory = place.out or _new_directory(setting)
    content = run(setting, config, directory, (lambda _: None) if silent else _Progress(steps))
    if place.as_json:
        print_json({"run": str(directory), **content})
    elif not place.quiet:
        print(_summary(content, directory))


def _new_directory(setting: Setting) -> Path:
    from promptpo.api import default_directory
    from promptpo.envs.task import Task

    return default_directory(Task(f"icpi-{setting.env_id}"))


def _say_estimate(setting: Setting, config: RunConfig, *, only: bool, as_json: bool) -> None:
    from promptpo_baselines.icpi.estimate import estimate

    env = setting.make_env()
    limit = env.spec.max_episode_steps if env.spec else None
    env.close()
    guess = estimate(setting, config, episode_steps=limit)
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


def _summary(content: dict[str, Any], directory: Path) -> str:
    test, regret, llm = content["test"], content["regret_last_quarter"], content["llm"]
    lines = [f"{content['env_id']}, {content['method']}: {content['stop_reason']}"]
    if regret is not None:
        lines.append(f"mean regret in the last quarter of training: {regret:.3f}")
    if test["mean_return"] is not None:
        low, high = test["ci95"]
        lines.append(
            f"held-out return: {test['mean_return']:.3f} [{low:.3f}, {high:.3f}], {test['episodes']} episodes"
        )
    if llm["calls"]:
        lines.append(
            f"{llm['calls']} calls, {llm['input_tokens']:,} prompt tokens, {llm['cached_input_tokens']:,} of them cached"
        )
    return "\n".join([*lines, f"run: {directory}"])
