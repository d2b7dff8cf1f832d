"""``promptpo baseline icpi``: what it takes, in words."""

from __future__ import annotations

import contextlib
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from promptpo.cli.arguments import EnvKwargs, Horizon, json_object
from promptpo.cli.groups import grouped
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo_baselines.cli import summary
from promptpo_baselines.flags import AskingPlaceFlags, ModelFlags
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
    from promptpo_baselines.icpi.engines.choose import HELP, check_engine
    from promptpo_baselines.icpi.estimate import estimate

    setting = world.setting(env_id)
    if flags.method in WITH_ENGINE and not model.engine:
        raise UsageError(f"--engine is missing; it is one of: {HELP}")
    steps = flags.steps or setting.rules.figure_steps
    config = RunConfig(**{**vars(flags), **vars(model), "steps": steps, "profile": profile})
    with contextlib.closing(setting.make_env()) as env:
        limit = env.spec.max_episode_steps if env.spec else None
    guess, name = estimate(setting, config, episode_steps=limit), config.engine or config.method
    if config.method in WITH_ENGINE and not place.estimate:
        check_engine(name, setting, config.base_url)
    directory = place.begun(guess, name, Task(f"icpi-{setting.task.env_id}"))
    if directory is None:
        return
    number = itertools.count(1)

    def observe(log: EpisodeLog) -> None:
        regret = "" if log.regret is None else f", regret {log.regret:.2f}"
        place.tell(f"step {log.end_step}/{steps}, episode {next(number)}: return {log.return_:g}{regret}")

    content = run(setting, config, directory, observe)
    late = content["regret_last_quarter"]
    said = [] if late is None else [f"mean regret in the last quarter of training: {late:.3f}"]
    place.show(content, directory, summary(content, directory, *said))
