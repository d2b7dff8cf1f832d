"""One run on disk: every paid answer and every episode in a journal, and ``result.json`` at the end.

Resuming is running the same again, as for ICPI: seeds decide what is drawn, and what is in the journal is not
asked for a second time.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gymnasium import spaces

from promptpo.envs.task import Task
from promptpo.errors import BudgetSpentError, UnsupportedSpaceError, UsageError
from promptpo.files import read_text
from promptpo.output.policy_file import file_and_task
from promptpo.output.report import write_result
from promptpo.run.journal import to_json
from promptpo.run.records import Seeds
from promptpo.spec.describe import describe
from promptpo_baselines.environments import make_playable
from promptpo_baselines.flags import AgentFlags, ModelFlags, without_limits
from promptpo_baselines.icpi.engines.choose import choose_engine
from promptpo_baselines.llm_agent.actions import Named, Numbers, actions_of
from promptpo_baselines.llm_agent.agent import LanguageAgent
from promptpo_baselines.llm_agent.beside import beside_program
from promptpo_baselines.llm_agent.play import AgentEpisode, play
from promptpo_baselines.llm_agent.prompts import Prompts, check_observations
from promptpo_baselines.llm_agent.results import result_of
from promptpo_baselines.llm_agent.values import StepValues, values_of_random_play
from promptpo_baselines.same_run import asking_run, record

if TYPE_CHECKING:
    from promptpo.run.journal import Journal
    from promptpo.run.ledger import Ledger
    from promptpo_baselines.icpi.engines.choose import ChosenEngine

SPEC = "spec"
"""Under which the journal keeps what the model is told, since ranges in it are observed."""
FINISHED = "all episodes played"
INTERRUPTED = "interrupted; the same command goes on with it"

Observe = Callable[[AgentEpisode, int], None]
"""Told of each finished episode, and how many there are by then."""


@dataclass(frozen=True, kw_only=True)
class AgentConfig(AgentFlags, ModelFlags):
    """All that decides a run; the task is what is played."""

    task: Task

    def as_json(self) -> dict[str, Any]:
        """What a resumed run must have in common with the one that it resumes."""
        task: dict[str, Any] = json.loads(json.dumps(to_json(self.task)))
        values = without_limits(replace(self, beside=None, steps=self.steps if self.weigh else 0))
        return {**values, **task, "task": task, "method": "llm-agent"}


@dataclass(frozen=True)
class DescribedTask:
    """What can be made of a run before anything is asked.

    Attributes:
        spec: What the model is told about the task.
        actions: Of the environment.
        prompts: Write the questions.
        spec_steps: Environment steps that describing it took.
        horizon: Longest episode; None where nothing is known to bound it.
    """

    spec: str
    actions: Named | Numbers
    prompts: Prompts
    spec_steps: int
    horizon: int | None


def prepare(config: AgentConfig, told: str | None = None) -> DescribedTask:
    """Describe the task.

    Args:
        config: Of the run.
        told: The spec that the run has used before this process; None where it is to be made.

    Raises:
        UnsupportedSpaceError: Its actions or observations cannot be written.
        UsageError: Values are asked for where actions cannot be counted.
    """
    if config.beside is not None:
        read_text(file_and_task(config.beside, config.task)[0])  # told before anything is paid
    spec = describe(config.task)
    text = spec.text if told is None else told
    actions = actions_of(spec.action_space, text)
    check_observations(spec.observation_space, config.task.name)
    if not actions.labels and (config.weigh or config.choose == "score"):
        raise UsageError(
            "--weigh and --choose score compare actions that can be counted; leave them out for numbers."
        )
    if config.weigh:
        _check_numbers(spec.observation_space, config.task.name)
    prompts = Prompts(
        text, actions, last=config.last, temperature=config.temperature, score=config.choose != "name"
    )
    return DescribedTask(text, actions, prompts, spec.sample_steps, spec.horizon)


def run(
    config: AgentConfig,
    directory: Path,
    observe: Observe = lambda *_: None,
) -> dict[str, Any]:
    """Do a run, or go on with one.

    Args:
        config: What to do.
        directory: Where the run lives.
        observe: Told of each episode.

    Returns:
        The content of ``result.json``, which is written after Ctrl-C too.

    Raises:
        UsageError: The directory holds another run.
        ProviderError: The engine failed; the same call goes on from there.
    """
    prepare(config)  # what cannot be is told before there is a directory
    with contextlib.ExitStack() as stack:
        same = asking_run(
            directory, config.as_json(), "run of llm-agent", config.budget, but=frozenset({"task"})
        )
        journal, ledger = stack.enter_context(same)
        ready = prepare(config, journal.find("spec", SPEC))
        if journal.find("spec", SPEC) is None:
            journal.add("spec", SPEC, ready.spec)
        chosen = choose_engine(
            str(config.engine), None, base_url=config.base_url, ledger=ledger, journal=journal
        )
        stack.callback(chosen.close)
        return _AgentSession(config, ready, journal, ledger, chosen, observe).run()


class _AgentSession:
    """One process's work on a run."""

    def __init__(
        self,
        config: AgentConfig,
        prepared: DescribedTask,
        journal: Journal,
        ledger: Ledger,
        chosen: ChosenEngine,
        observe: Observe,
    ) -> None:
        self._config, self._prepared, self._journal, self._ledger = config, prepared, journal, ledger
        self._chosen, self._observe = chosen, observe
        self._test: dict[int, AgentEpisode] = {}
        self._held_out: dict[int, AgentEpisode] = {}
        self._train_steps = self._test_steps = 0

    def run(self) -> dict[str, Any]:
        stop = FINISHED
        try:
            self._play()
        except BudgetSpentError as spent:
            stop = str(spent)
        except KeyboardInterrupt:
            self._write(INTERRUPTED)
            raise
        return self._write(stop)

    def _play(self) -> None:
        config, prepared = self._config, self._prepared
        agent = LanguageAgent(
            self._chosen.engine,
            prepared.prompts,
            prepared.actions,
            values=self._values() if config.weigh else None,
            must_score=config.choose == "score",
            repeats=config.temperature > 0,
        )
        parts = [("test", self._test, Seeds().test(config.test_episodes))]
        if config.task.held_out:
            parts.append(("held_out", self._held_out, Seeds().held_out(config.test_episodes)))
        for kind, played, seeds in parts:
            for episode in play(
                config.task, agent, prepared.actions, seeds,
                run_seed=config.seed, at_once=config.at_once, on_step=self._stepped,
            ):  # fmt: skip
                record(self._journal, self._ledger, kind, str(episode.seed), episode)
                played[episode.seed] = episode
                self._observe(episode, len(self._test) + len(self._held_out))

    def _values(self) -> StepValues:
        with contextlib.closing(make_playable(self._config.task)) as env:
            values, self._train_steps = values_of_random_play(env, self._config.steps, self._config.seed)
        return values

    def _stepped(self) -> None:
        self._test_steps += 1

    def _write(self, stop: str) -> dict[str, Any]:
        config = self._config
        content = result_of(
            config.task,
            config.as_json(),
            [self._test[seed] for seed in sorted(self._test)],
            [self._held_out[seed] for seed in sorted(self._held_out)],
            steps={"train": self._train_steps, "test": self._test_steps, "spec": self._prepared.spec_steps},
            ledger=self._ledger,
            stop=stop,
        )
        beside = config.beside if stop == FINISHED else None
        content["program"] = beside and beside_program(beside, config.task, config.test_episodes)
        write_result(self._journal.directory, content)
        return content


def _check_numbers(space: spaces.Space[Any], name: str) -> None:
    from promptpo_baselines.environments import flat_space

    flat = flat_space(space)
    if isinstance(flat, spaces.Text) or 0 in (flat.shape or (1,)):
        raise UnsupportedSpaceError(f"{name} observes text; --weigh needs numbers to find near states by.")
