"""A run with a goal in words: the reward that the model writes for it, and whether the best does what was asked."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from promptpo.envs.task import RewardProgram
from promptpo.output.film.strip import camera
from promptpo.rollouts.rewarded import RewardedExecutor
from promptpo.run.config import horizon_within
from promptpo.run.control import Control
from promptpo.run.keeping import paid_for
from promptpo.run.observer import Observer
from promptpo.search.asked_for import Winner, asked_for
from promptpo.search.final_test import Outcome
from promptpo.search.goal import GoalReward
from promptpo.search.preferring import succeeded_in_words
from promptpo.session.opened import OpenRun, keep
from promptpo.session.task import as_begun, described
from promptpo.spec import TaskSpec, with_cut
from promptpo.spec.reading import names_of


async def with_goals_reward(run: OpenRun, observer: Observer) -> OpenRun:
    """The run with the reward that the model writes for its goal, once in its life."""
    config, spec = run.config, run.spec
    if config.task.reward is not None:
        return replace(run, spec=as_begun(run.journal, spec))
    horizon = horizon_within(config, spec.horizon, spec.sample_length)
    spec = with_cut(spec, horizon)
    taken = spec.sample_steps

    def with_reward(reward: RewardProgram) -> TaskSpec:
        nonlocal taken
        found = described(replace(config, task=replace(config.task, reward=reward)))
        taken += found.sample_steps
        return replace(found, sample_steps=taken)

    with contextlib.ExitStack() as stack:
        stack.enter_context(paid_for(run.directory, asked=run.llm.language_model))
        person = None
        if config.judge == "me":
            from promptpo.output.judging import PersonJudge

            judge = PersonJudge(config.task, config.goal, names_of(spec.text), observer.warn)
            person = stack.enter_context(judge).ask
        filmed = camera(config.task)
        asking = GoalReward(
            config.goal, spec, run.spender(), config, horizon, with_reward, person=person, camera=filmed
        )
        chosen = await asking.choose()
        if chosen.always_succeeds:
            observer.warn(
                "the reward that was written says success in every episode, whatever is done "
                f"({succeeded_in_words(chosen.succeeded)}): shares of success say nothing in this run."
            )
    config = replace(
        config,
        task=replace(config.task, reward=chosen.reward),
        start=(*config.start, *chosen.policies),
        written=len(chosen.policies),
    )
    spec = as_begun(run.journal, with_reward(chosen.reward))
    keep(config, run.directory, observer, run.resuming)
    executor = RewardedExecutor(run.executor, chosen.reward.source)
    return replace(run, config=config, spec=spec, executor=executor)


async def judged(run: OpenRun, outcome: Outcome, control: Control, horizon: int) -> Outcome:
    """The outcome with whether the best policy does what the goal asks, where the run has both."""
    if not run.config.goal or outcome.best is None:
        return outcome
    spender = run.spender()
    winner = Winner(outcome.best.candidate, outcome.test, outcome.held_out, outcome.references)
    filmed = camera(run.config.task) if run.config.shows_frames(run.llm) else None
    asked = asked_for(run.config.goal, run.spec, spender, winner, horizon, filmed)
    outcome = replace(outcome, judged=await control.finished(asked))
    await spender.receive()
    return outcome
