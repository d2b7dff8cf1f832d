"""One run on disk: every paid completion and every episode in a journal, and ``result.json`` at the end.

A run is resumed by repeating it: the seeds determine every draw, completions that are in the journal are not requested
again, and episodes that are in it are checked instead of written.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.core.candidate import Seeds
from promptpo_baselines.flags import ModelFlags, without_limits
from promptpo_baselines.icpi.assembly import assemble
from promptpo_baselines.icpi.engines.choose import open_engine
from promptpo_baselines.icpi.play import test, train
from promptpo_baselines.icpi.results import summarize_episodes
from promptpo_baselines.icpi_flags import WITH_ENGINE, IcpiFlags, Profile
from promptpo_baselines.same_run import asking_run

if TYPE_CHECKING:
    from promptpo_baselines.icpi.setting import Setting
    from promptpo_baselines.icpi.values import EpisodeLog

FINISHED = "all steps taken"
DEFAULT_STEPS = 200

Observe = Callable[["EpisodeLog"], None]


@dataclass(frozen=True, kw_only=True)
class RunConfig(IcpiFlags, ModelFlags):
    """Configuration of a run, apart from its setting.

    Attributes:
        profile: Options of prompting and planning.
        steps: Training steps.
    """

    profile: Profile = field(default_factory=Profile)
    steps: int = DEFAULT_STEPS

    def as_json(self, setting: Setting) -> dict[str, Any]:
        """Settings that a resumed run must share with the run it resumes."""
        return {
            **without_limits(self),
            **{name: getattr(setting.task, name) for name in ("env_id", "env_kwargs", "max_episode_steps")},
            "gamma": setting.gamma_plan,
            "max_rollout": setting.max_rollout,
            "engine": self.engine if self.method in WITH_ENGINE else None,
        }


def run(
    setting: Setting, config: RunConfig, directory: Path, observe: Observe = lambda _: None
) -> dict[str, Any]:
    """Start a run, or continue one.

    Args:
        setting: The environment.
        config: The configuration.
        directory: The run directory.
        observe: Called with each training episode.

    Returns:
        The content of ``result.json``, which is written after Ctrl-C too.

    Raises:
        UsageError: The directory holds another run.
        ProviderError: The engine failed; the same call continues from there.
    """
    wanted = config.as_json(setting)
    asked = config.method in WITH_ENGINE
    with (
        asking_run(directory, setting.task, wanted, "ICPI run", config.budget) as running,
        open_engine(str(config.engine), setting, running, config.base_url, config.seed)
        if asked
        else contextlib.nullcontext() as engine,
    ):
        agent = assemble(
            setting,
            config.method,
            config.profile,
            engine=engine,
            seed=config.seed,
            bootstrap_terminal=config.bootstrap_terminal,
        )
        trained: list[EpisodeLog] = []
        tested: list[EpisodeLog] = []

        def work() -> None:
            for log in train(setting, agent, config.steps, config.seed):
                running.record("evaluation", str(len(trained)), log)
                trained.append(log)
                running.steps["train"] = log.end_step
                observe(log)
            running.steps["train"] = config.steps
            for log in test(setting, agent, Seeds().test(config.test_episodes)):
                running.record("test", str(len(tested)), log)
                tested.append(log)
                running.steps["test"] += log.end_step

        def content() -> dict[str, Any]:
            return summarize_episodes(trained, tested, config.steps) | {"completions": agent.tally.as_json()}

        return running.finish(work, FINISHED, content)
