"""A trained agent as a teacher: its returns, its behaviour, and how closely a program imitates it.

It plays training seeds before the first request, and test seeds when the winner is tested. Its steps count as a
reference's. Its network is used for nothing else: a program is compared with it on states that it visited itself.
"""

from __future__ import annotations

import asyncio
import copy
import hashlib
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.core.budget import affordable_units
from promptpo.core.candidate import REFERENCE_TEST, Candidate
from promptpo.core.feature import Feature
from promptpo.core.journal import to_json
from promptpo.core.returns import Evidence
from promptpo.errors import EnvironmentFaultError, UsageError
from promptpo.features.teacher.settings import EPISODES, TEACHER, TeacherSettings
from promptpo.program import Program
from promptpo.prompts import feedback, prompting, scores
from promptpo.prompts.shortening import whole_lines
from promptpo.prompts.step_table import render_steps
from promptpo.rollouts import Job, evaluation_of
from promptpo.rollouts.agents import play_agent
from promptpo.rollouts.packed import inflate, size_of
from promptpo.spec.reading import names_of
from promptpo_sandbox import Episode, Failure, Limits, Rollout, Sandbox, Trial

if TYPE_CHECKING:
    from promptpo.core.candidate import Attempt
    from promptpo.core.feature import SearchContext
    from promptpo.core.history import History
    from promptpo.core.sample import Sampler
    from promptpo.core.work import RecordedWork
    from promptpo.envs.task import Task
    from promptpo.rollouts.evaluation import Evaluation
    from promptpo.spec import TaskSpec
    from promptpo_sandbox.lockstep.asking import AskedPolicies

MOST_KEPT = 4_000_000
"""Maximum size of the observations kept of its episodes, in bytes; later episodes are kept without their steps."""

MOST_STEPS = 5_000
"""Maximum number of steps on which a program is compared with it."""

logger = logging.getLogger(__name__)


async def play_training(context: SearchContext) -> Rollout:
    """Play the teacher on training seeds, recording its observations and actions.

    Raises:
        UsageError: The agent cannot play this environment.
        BudgetSpentError: No environment steps are left.
    """
    config, horizon, path = (
        context.config,
        context.horizon,
        Path(context.config.of(TeacherSettings).teacher or ""),
    )
    seeds = context.seeds.train(
        affordable_units("teacher", config.budget.steps, horizon, config.train_episodes)
    )

    def note(rollouts: Sequence[Rollout]) -> dict[str, Any]:
        evaluation = to_json(evaluation_of(rollouts[0]))
        return {"agent": path.name, "digest": _digest(path), "evaluation": evaluation}

    job = Job("", tuple(Trial(seed, None, horizon) for seed in seeds), record=True)
    return (await _player(context).play("teacher", EPISODES, [job], note=note))[0]


async def test_teacher(context: SearchContext, seeds: Sequence[int]) -> Evaluation | None:
    """Play the teacher on test seeds, outside the step budget; None if it has changed since the run began."""
    key, path, journal = (
        f"{TEACHER}{REFERENCE_TEST}",
        context.config.of(TeacherSettings).teacher,
        context.journal,
    )
    begun = journal.find("teacher", EPISODES)
    try:
        known = journal.find("reference", key) is not None
        if not known and (begun is None or begun["digest"] != _digest(Path(path or ""))):
            raise UsageError(f"{path} has changed since the run began")
        agent = Candidate(TEACHER, "", 0)
        played = await _player(context).roll_out("reference", key, agent, seeds, horizon=context.horizon)
    except (
        UsageError,
        EnvironmentFaultError,
        OSError,
    ) as error:  # a missing reference must not cost the result
        logger.warning("the teacher was not tested: %s", error)
        return None
    return played.evaluation


async def describe_teacher(context: SearchContext, rollout: Rollout, evidence: Evidence) -> str:
    """Describe the teacher for the first prompt: its return, two episodes in words, and some of its steps."""
    narrator = context.narrator

    async def tell() -> str:
        recorded = [episode for episode in rollout.episodes if episode.trajectory is not None]
        kept = replace(rollout, episodes=tuple(recorded))
        _, diagnosis = await narrator.summarise(kept, evaluation_of(kept))
        return prompting.render(
            "teacher",
            score=scores.score(evidence),
            endings=feedback.endings(evidence.episodes, context.horizon),
            episodes=[feedback.episode_in_words(summary, 700) for summary in diagnosis.episodes],
            legend=narrator.legend if diagnosis.by else "",
            table=render_steps(feedback.select_episodes(recorded)[-1][1], names_of(context.spec.text))
            if recorded
            else "",
        )

    return str(await context.journal.once_async("teacher", "told", tell))


async def fidelity(context: SearchContext, candidate: Candidate) -> dict[str, Any] | None:
    """Measure how closely a program imitates the teacher on the teacher's own states; None if it cannot be measured.

    Returns:
        ``measure``: "equal actions", the share of them; or "r2", for each dimension of a continuous action. ``values``: one number,
        or one per dimension, None where the teacher's action does not vary. ``steps``: number of states compared.
    """
    taught = context.journal.find("teacher", EPISODES)
    if taught is None:
        return None

    async def compare() -> dict[str, Any]:
        return await asyncio.to_thread(
            agreement,
            candidate.source,
            Program.from_source(candidate.source).values,
            select_episodes(inflate(taught["rollouts"])[0].episodes),
            context.spec,
            allow_weaker=context.config.allow_weaker_sandbox,
        )

    return await context.journal.once_async("fidelity", candidate.digest, compare) or None


def select_episodes(episodes: Sequence[Episode]) -> list[Episode]:
    """Return the episodes with recorded steps, up to a total number of steps."""
    chosen: list[Episode] = []
    for episode in episodes:
        if episode.trajectory is not None and (
            not chosen or sum(episode.steps for episode in chosen) + episode.steps <= MOST_STEPS
        ):
            chosen.append(episode)
    return chosen


def agreement(
    source: str,
    params: Mapping[str, float] | None,
    episodes: Sequence[Episode],
    spec: TaskSpec,
    *,
    allow_weaker: bool = False,
) -> dict[str, Any]:
    """Run a program in the sandbox on the observations of the teacher's episodes and compare actions; empty if there are none.

    Args:
        source: The policy module.
        params: Its parameter values.
        episodes: Episodes with trajectories; each is one episode for the program too, which may have memory.
        spec: Spec with the spaces.
        allow_weaker: Whether to accept missing sandbox layers.
    """
    mine: list[Any] = []
    theirs: list[Any] = []
    with Sandbox(Limits(), allow_weaker=allow_weaker) as box:
        policies = box.open_policies(source, spec.observation_space, spec.action_space)
        for n, episode in enumerate(episodes):
            if (taught := episode.trajectory) is not None:
                actions = _act(policies, Trial(n, params), taught.observations[: len(taught.actions)])
                mine += actions
                theirs += taught.actions[: len(actions)]
    return _alike(mine, theirs, spec.action_space) if mine else {}


def _alike(mine: Sequence[Any], theirs: Sequence[Any], space: spaces.Space[Any]) -> dict[str, Any]:
    ours, others = (np.asarray(actions, dtype=float).reshape(len(mine), -1) for actions in (mine, theirs))
    if isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.floating):
        left, spread = ((ours - others) ** 2).sum(axis=0), ((others - others.mean(axis=0)) ** 2).sum(axis=0)
        values = [1 - a / b if b > 1e-12 * len(mine) else math.nan for a, b in zip(left, spread, strict=True)]
        rounded = [None if math.isnan(v) else round(float(v), 4) for v in values]
        return {"measure": "r2", "values": rounded, "steps": len(mine)}
    same = float((ours == others).all(axis=1).mean())
    return {"measure": "equal actions", "values": [round(same, 4)], "steps": len(mine)}


def _act(policies: AskedPolicies, trial: Trial, observations: Sequence[Any]) -> list[Any]:
    """Return a new policy's actions on some observations in sequence; empty if it fails on one."""
    actions: list[Any] = []
    failed = bool(policies.start({0: trial}))
    for observation in () if failed else observations:
        actions.append(policies.act({0: observation})[0])
        if isinstance(actions[-1], Failure):
            return []
    return actions


class _Agent:
    """Executor that plays an agent in a thread: jobs provide the seeds, and their program is ignored.

    Args:
        path: The agent's file.
        task: The task.
    """

    jobs = 1

    def __init__(self, path: Path, task: Task) -> None:
        self._path, self._task = path, task

    async def run(self, job: Job) -> Rollout:
        """See `Executor.run`; on cancellation, the thread ends with its current episode.

        Raises:
            UsageError: As for `play_agent`.
        """
        episodes: list[Episode] = []
        seeds, stopped = [trial.seed for trial in job.trials], False

        def steps() -> int:
            return sum(episode.steps for episode in episodes)

        def watch(episode: Episode) -> bool:
            kept = bool(job.record) and (not episodes or size_of([*episodes, episode]) <= MOST_KEPT)
            episodes.append(episode if kept else replace(episode, trajectory=None))
            return not stopped and (job.step_limit is None or steps() < job.step_limit)

        try:
            await asyncio.to_thread(play_agent, self._path, self._task, seeds, watch=watch)
        finally:
            stopped = True
        left = tuple(range(len(episodes), len(seeds)))
        return Rollout(tuple(episodes), None, steps(), "", 0.0, unfinished=left)


def _player(context: SearchContext) -> RecordedWork:
    """Return recorded work that plays the teacher, with the run's horizon if the environment has none."""
    task = context.config.task
    if context.spec.horizon is None:
        task = replace(task, max_episode_steps=context.horizon)
    player = copy.copy(context.work)
    agent: Any = _Agent(Path(context.config.of(TeacherSettings).teacher or ""), task)
    player.executor = agent  # it can only run jobs
    return player


def _digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


class Pupil(Feature):
    """Learns from a teacher, which plays first and is described to the model.

    Args:
        context: Context of the run.
    """

    def __init__(self, context: SearchContext) -> None:
        self._context, self._words = context, ""
        self._taught: Rollout | None = None

    async def before_round(self, number: int, history: History) -> None:  # noqa: ARG002
        """Play the teacher before the first request; before round 1, write its description."""
        if number == 0:
            self._taught = await play_training(self._context)
        if number != 1 or self._taught is None:
            return
        evidence = Evidence.of(evaluation_of(self._taught).episodes)
        if self._context.learns:
            self._words = await describe_teacher(self._context, self._taught, evidence)

    def persistent_sections(self, number: int) -> Mapping[str, Callable[[int], str]]:
        """Describe the teacher in the first round."""
        return {"teacher": lambda room: whole_lines(self._words, room)} if number == 1 else {}

    async def test_beside(self, seeds: Sequence[int], test: Evaluation) -> Mapping[str, Evaluation]:  # noqa: ARG002
        """Play the teacher on the test seeds."""
        played = await test_teacher(self._context, seeds)
        return {} if played is None else {TEACHER: played}

    async def inspect(self, best: Attempt) -> Mapping[str, Any]:
        """Measure how closely the best imitates the teacher."""
        alike = await fidelity(self._context, best.candidate)
        return {} if alike is None else {"fidelity": alike}


def install(context: SearchContext, _: Sampler) -> Feature:
    """Create the feature for a run."""
    return Pupil(context)
