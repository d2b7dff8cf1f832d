"""One run on disk: every paid completion and every episode in a journal, and ``result.json`` at the end.

Resuming is running the same again: the seeds decide every draw, completions that are in the journal are
not asked for a second time, and episodes that are in it are checked instead of written.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from promptpo.errors import BudgetSpentError
from promptpo.output.report import write_result
from promptpo.run.records import Seeds
from promptpo_baselines.flags import ModelFlags, without_limits
from promptpo_baselines.icpi.assembly import WITH_ENGINE, Assembled, Method, assemble
from promptpo_baselines.icpi.engines.choose import ChosenEngine, choose_engine
from promptpo_baselines.icpi.play import test, train
from promptpo_baselines.icpi.profile import PROFILES, Profile
from promptpo_baselines.icpi.results import result_of
from promptpo_baselines.same_run import asking_run, record

if TYPE_CHECKING:
    from promptpo.run.journal import Journal
    from promptpo.run.ledger import Ledger
    from promptpo_baselines.icpi.setting import Setting
    from promptpo_baselines.icpi.values import EpisodeLog

FINISHED = "all steps taken"
DEFAULT_STEPS = 200

Observe = Callable[["EpisodeLog"], None]


@dataclass(frozen=True, kw_only=True)
class IcpiFlags:
    """What acts, and for how long."""

    method: Annotated[Method, typer.Option(help="What acts.")] = "icpi"
    steps: Annotated[
        int | None, typer.Option(min=1, help="Training steps; those of the paper's figure by default.")
    ] = None
    seed: Annotated[int, typer.Option(min=0, help="Decides everything that is drawn.")] = 0
    test_episodes: Annotated[int, typer.Option(min=0, help="Held-out episodes, without learning.")] = 20
    bootstrap_terminal: Annotated[
        bool, typer.Option("--bootstrap-terminal", help="The released Tabular Q's update at the end.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class RunConfig(IcpiFlags, ModelFlags):
    """All that decides a run, but for its setting.

    Attributes:
        profile: How it prompts and plans.
        steps: Training steps.
    """

    profile: Profile = PROFILES["fast"]
    steps: int = DEFAULT_STEPS

    def as_json(self, setting: Setting) -> dict[str, Any]:
        """What a resumed run must have in common with the one that it resumes."""
        return {
            **without_limits(self),
            "env_id": setting.env_id,
            "env_kwargs": dict(setting.env_kwargs),
            "max_episode_steps": setting.max_episode_steps,
            "gamma": setting.gamma_plan,
            "max_rollout": setting.max_rollout,
            "engine": self.engine if self.method in WITH_ENGINE else None,
        }


def run(
    setting: Setting, config: RunConfig, directory: Path, observe: Observe = lambda _: None
) -> dict[str, Any]:
    """Do a run, or go on with one.

    Args:
        setting: The environment.
        config: What to do.
        directory: Where the run lives.
        observe: Told of each training episode.

    Returns:
        The content of ``result.json``.

    Raises:
        UsageError: The directory holds another run.
        ProviderError: The engine failed; the same call goes on from there.
    """
    wanted = config.as_json(setting)
    with contextlib.ExitStack() as stack:
        journal, ledger = stack.enter_context(asking_run(directory, wanted, "ICPI run", config.budget))
        chosen = None
        if config.method in WITH_ENGINE:
            chosen = choose_engine(
                str(config.engine), setting, seed=config.seed, base_url=config.base_url,
                ledger=ledger, journal=journal,
            )  # fmt: skip
            stack.callback(chosen.close)
        return _Session(setting, config, journal, ledger, chosen, observe).run()


class _Session:
    """One process's work on a run."""

    def __init__(
        self,
        setting: Setting,
        config: RunConfig,
        journal: Journal,
        ledger: Ledger,
        chosen: ChosenEngine | None,
        observe: Observe,
    ) -> None:
        self._setting, self._config, self._journal, self._ledger = setting, config, journal, ledger
        self._observe = observe
        self._train: list[EpisodeLog] = []
        self._test: list[EpisodeLog] = []
        self._steps = 0
        self._assembled: Assembled = assemble(
            setting,
            config.method,
            config.profile,
            engine=chosen.engine if chosen else None,
            measure=chosen.measure if chosen else None,
            seed=config.seed,
            bootstrap_terminal=config.bootstrap_terminal,
        )

    def run(self) -> dict[str, Any]:
        stop = FINISHED
        config, setting = self._config, self._setting
        try:
            train(setting, self._assembled.agent, config.steps, config.seed, self._trained)
            self._steps = config.steps
            for log in test(setting, self._assembled.agent, Seeds().test(config.test_episodes)):
                record(self._journal, self._ledger, "test", str(len(self._test)), log)
                self._test.append(log)
        except BudgetSpentError as spent:
            stop = str(spent)
        content = result_of(
            setting.task, config.as_json(setting), self._train, self._test,
            steps_taken=self._steps, ledger=self._ledger, stop=stop,
        )  # fmt: skip
        content["completions"] = self._assembled.tally.as_json()
        write_result(self._journal.directory, content)
        return content

    def _trained(self, log: EpisodeLog) -> None:
        record(self._journal, self._ledger, "evaluation", str(len(self._train)), log)
        self._train.append(log)
        self._steps = log.end_step
        self._observe(log)
