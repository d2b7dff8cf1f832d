"""One run on disk: every paid answer and every episode in a journal, and ``result.json`` at the end.

A run is resumed by repeating it, as for ICPI: seeds determine what is drawn, and what is in the journal is not
requested again.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from promptpo.core.candidate import Seeds
from promptpo.core.journal import to_json
from promptpo.envs.task import Task
from promptpo.errors import UnsupportedSpaceError, UsageError
from promptpo.files import read_text
from promptpo.output.policy_file import file_and_task
from promptpo_baselines.environments import make_playable, numeric
from promptpo_baselines.flags import AgentFlags, ModelFlags, without_limits
from promptpo_baselines.icpi.engines.choose import open_engine
from promptpo_baselines.llm_agent.actions import Named, Numbers, actions_of
from promptpo_baselines.llm_agent.agent import LanguageAgent
from promptpo_baselines.llm_agent.beside import beside_program
from promptpo_baselines.llm_agent.play import AgentEpisode, AgentLane, play
from promptpo_baselines.llm_agent.prompts import Prompts, check_observations
from promptpo_baselines.llm_agent.results import summarize_episodes
from promptpo_baselines.llm_agent.values import StepValues, values_of_random_play
from promptpo_baselines.same_run import asking_run

SPEC = "spec"
"""Key under which the journal keeps the spec, since ranges in it are observed."""
FINISHED = "all episodes played"

Observe = Callable[[AgentEpisode, int], None]
"""Called with each finished episode and the number finished so far."""


@dataclass(frozen=True, kw_only=True)
class AgentConfig(AgentFlags, ModelFlags):
    """Configuration of a run, with the task to play."""

    task: Task

    def as_json(self) -> dict[str, Any]:
        """Settings that a resumed run must share with the run it resumes."""
        task: dict[str, Any] = json.loads(json.dumps(to_json(self.task)))
        del task["files"]  # whom the user trusts
        values = without_limits(replace(self, beside=None, steps=self.steps if self.weigh else 0))
        return {**values, "task": task, "method": "llm-agent"}


@dataclass(frozen=True)
class DescribedTask:
    """The task as described to the agent before its first question.

    Attributes:
        spec: The spec, as the model sees it.
        actions: Actions of the environment.
        prompts: Writes the questions.
        spec_steps: Environment steps taken to describe the task.
        horizon: Maximum episode length; None if no bound is known.
    """

    spec: str
    actions: Named | Numbers
    prompts: Prompts
    spec_steps: int
    horizon: int | None


def prepare(config: AgentConfig, told: str | None = None) -> DescribedTask:
    """Describe the task.

    Args:
        config: Configuration of the run.
        told: The spec that an earlier process of the run used; None to write it.

    Raises:
        UnsupportedSpaceError: Its actions or observations cannot be written.
        UsageError: Values are requested, and actions cannot be counted.
    """
    from promptpo.spec.describe import describe  # imported when a task is to be described

    if config.beside is not None:
        read_text(file_and_task(config.beside, config.task)[0])  # errors are reported before anything is paid
    spec = describe(config.task)
    text = spec.text if told is None else told
    actions = actions_of(spec.action_space, text)
    check_observations(spec.observation_space, config.task.name)
    if not actions.labels and (config.weigh or config.choose == "score"):
        raise UsageError(
            "--weigh and --choose score compare actions that can be counted; leave them out for numbers."
        )
    if config.weigh and not numeric(spec.observation_space):
        raise UnsupportedSpaceError(
            f"{config.task.name} observes text; --weigh needs numbers to find near states by."
        )
    prompts = Prompts(
        text, actions, last=config.last, temperature=config.temperature, score=config.choose != "name"
    )
    return DescribedTask(text, actions, prompts, spec.sample_steps, spec.horizon)


def run(
    config: AgentConfig,
    directory: Path,
    observe: Observe = lambda *_: None,
) -> dict[str, Any]:
    """Start a run, or continue one.

    Args:
        config: The configuration.
        directory: The run directory.
        observe: Called with each episode.

    Returns:
        The content of ``result.json``, which is written after Ctrl-C too.

    Raises:
        UsageError: The directory holds another run.
        ProviderError: The engine failed; the same call continues from there.
    """
    prepare(config)  # errors are reported before there is a directory
    task = config.task
    with (
        asking_run(directory, task, config.as_json(), "run of llm-agent", config.budget) as running,
        open_engine(str(config.engine), None, running, config.base_url) as engine,
    ):
        ready = prepare(config, running.journal.find("spec", SPEC))
        running.journal.once("spec", SPEC, lambda: ready.spec)
        running.steps["spec"] = ready.spec_steps
        seeds = _seeds(config)
        found: dict[str, list[AgentEpisode]] = {kind: [] for kind in seeds}

        def work() -> None:
            values = _values(config) if config.weigh else None
            running.steps["train"] = config.steps if config.weigh else 0
            agent = LanguageAgent(
                engine,
                ready.prompts,
                ready.actions,
                values=values,
                must_score=config.choose == "score",
                repeats=config.temperature > 0,
            )
            for kind, chosen in seeds.items():
                at_once = range(min(config.at_once, len(chosen)))
                lanes = [AgentLane(task, ready.actions, config.seed, running.steps) for _ in at_once]
                for episode in play(lanes, agent.act, chosen):
                    running.record(kind, str(episode.record.seed), episode)
                    found[kind].append(episode)
                    observe(episode, sum(map(len, found.values())))

        def content() -> dict[str, Any]:
            whole = all(len(found[kind]) == len(chosen) for kind, chosen in seeds.items())
            beside = config.beside if whole else None
            program = beside and beside_program(beside, task, config.test_episodes)
            return {**summarize_episodes(task, found, seeds), "program": program}

        return running.finish(work, FINISHED, content)


def _seeds(config: AgentConfig) -> dict[str, Sequence[int]]:
    """Return the seeds of episodes by purpose."""
    seeds: dict[str, Sequence[int]] = {"test": Seeds().test(config.test_episodes)}
    if config.task.held_out:
        seeds["held_out"] = Seeds().variants(config.test_episodes)
    return seeds


def _values(config: AgentConfig) -> StepValues:
    with contextlib.closing(make_playable(config.task)) as env:
        return values_of_random_play(env, config.steps, config.seed)
