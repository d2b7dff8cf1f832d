"""The command ``promptpo baseline icpi``."""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING, Annotated

import typer

from promptpo.cli.arguments import json_object
from promptpo.cli.groups import expand_groups
from promptpo.errors import UsageError
from promptpo_baselines.flags import AskingPlaceFlags, ModelFlags
from promptpo_baselines.icpi_flags import WITH_ENGINE, IcpiFlags, Profile, SettingFlags

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


@expand_groups
def icpi(
    env_id: Environment,
    model: ModelFlags,
    profile: Profile,
    flags: IcpiFlags,
    world: SettingFlags,
    place: AskingPlaceFlags,
) -> None:
    """Choose each action by querying a language model, as ICPI does."""
    from promptpo.envs.task import Task
    from promptpo_baselines.icpi.engines.choose import HELP, select_engine
    from promptpo_baselines.icpi.estimate import estimate
    from promptpo_baselines.icpi.run import RunConfig, run
    from promptpo_baselines.icpi.setting import setting_for

    about = {**vars(world), "env_kwargs": json_object(world.env_kwargs, "--env-kwargs")}
    setting = setting_for(env_id, **about)
    if flags.method in WITH_ENGINE and not model.engine:
        raise UsageError(f"--engine is missing; it is one of: {HELP}")
    steps = flags.steps or setting.rules.figure_steps
    config = RunConfig(**{**vars(flags), **vars(model), "steps": steps, "profile": profile})
    with contextlib.closing(setting.make_env()) as env:
        limit = env.spec.max_episode_steps if env.spec else None
    guess, name = estimate(setting, config, episode_steps=limit), config.engine or config.method
    if config.method in WITH_ENGINE and not place.estimate:
        select_engine(name, setting, config.base_url)
    directory = place.announce(guess, name, Task(f"icpi-{setting.task.env_id}"))
    if directory is None:
        return
    number = itertools.count(1)

    def observe(log: EpisodeLog) -> None:
        regret = "" if log.regret is None else f", regret {log.regret:.2f}"
        place.tell(f"step {log.end_step}/{steps}, episode {next(number)}: return {log.return_:g}{regret}")

    content = run(setting, config, directory, observe)
    late = content["regret_last_quarter"]
    more = [] if late is None else [f"mean regret in the last quarter of training: {late:.3f}"]
    place.show(content, directory, *more)
