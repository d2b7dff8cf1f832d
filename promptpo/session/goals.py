"""Runs with a goal in words: the model writes the reward, and judges whether the best policy fulfils the goal."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from functools import partial
from typing import Any

from promptpo.core.control import Control
from promptpo.core.feature import SearchContext
from promptpo.core.final_test import Outcome
from promptpo.core.journal import resume_command, writing
from promptpo.envs.task import RewardProgram
from promptpo.errors import PromptPOError
from promptpo.features.goals.preferences import always_succeed, successes_in_words
from promptpo.features.goals.reward import GoalReward
from promptpo.features.goals.settings import GoalSettings, missing_verdict
from promptpo.features.goals.strips import Camera
from promptpo.features.goals.verdict import FINEST, TYPICAL, WORST, episodes_to_show, judge_goal
from promptpo.files import write_atomically
from promptpo.output.film.strip import film_strip
from promptpo.output.observer import Observer
from promptpo.prompts.feedback import endings
from promptpo.rollouts.rewarded import RewardedExecutor
from promptpo.run.state import RunState
from promptpo.session.setup import context_of, keep, load_spec, pin_spec_text
from promptpo.spec import TaskSpec, with_cut
from promptpo.spec.reading import names_of

ROLES = {FINEST: "best", TYPICAL: "median", WORST: "worst"}
"""Roles of filmed episodes by their names in the judgement."""

PICTURE = "goal-{}.png"

ITS_OWN = 15.0
"""Time for pictures after the run is stopped, in seconds."""

WRITTEN = "goal", "Written while the reward was judged."
"""Origin and description of policies written together with the reward."""

NOT_FILMED = {"pictures": [], "no_pictures": "the run was stopped before they were recorded"}


async def with_goals_reward(context: SearchContext, state: RunState, observer: Observer) -> SearchContext:
    """Return the context with the reward that the model writes for the goal, once per run."""
    config, spec, journal, work = context.config, context.spec, context.journal, context.work
    wanted = config.of(GoalSettings)
    if config.task.reward is not None:
        return replace(context, spec=pin_spec_text(journal, spec), written=[WRITTEN] * wanted.written)
    observer.warn(f"the model first writes the reward for the goal: {wanted.goal}")
    spec = with_cut(spec, context.horizon)
    taken = spec.sample_steps

    def with_reward(reward: RewardProgram) -> TaskSpec:
        nonlocal taken
        found = load_spec(replace(config, task=replace(config.task, reward=reward)))
        taken += found.sample_steps
        return replace(found, sample_steps=taken)

    with contextlib.ExitStack() as stack:
        person = None
        if wanted.judge == "me":
            from promptpo.output.judging import PersonJudge

            person = stack.enter_context(PersonJudge(config.task, wanted.goal, names_of(spec.text))).ask
        known = replace(context, spec=spec)
        chosen = await GoalReward(known, with_reward, person, _camera(context)).choose()
        if always_succeed(chosen.succeeded):
            observer.warn(
                "the written reward reports success in every episode, whatever the policy does "
                f"({successes_in_words(chosen.succeeded)}); success rates mean nothing in this run."
            )
    config = replace(
        config,
        task=replace(config.task, reward=chosen.reward),
        start=(*config.start, *chosen.policies),
        features={**config.features, "written": len(chosen.policies)},
    )
    spec = pin_spec_text(journal, with_reward(chosen.reward))
    keep(config, journal.directory, observer, resume_command(journal.directory))
    state.config = config
    work.executor = RewardedExecutor(work.executor, chosen.reward.source)
    return replace(context_of(spec, config, work), written=[WRITTEN] * len(chosen.policies))


async def judge_outcome(context: SearchContext, outcome: Outcome, control: Control) -> Outcome:
    """Add to the outcome whether the best policy fulfils the goal, in how many episodes, and pictures of them.

    Counts and pictures are made even if the run was stopped; the verdict is then missing, and the outcome says so.
    """
    if outcome.best is None:
        return outcome
    shown = await control.finish(_film_episodes(context, outcome), at_least=ITS_OWN)
    asked = await control.finish(judge_goal(context, outcome, _camera(context)))
    await context.work.receive_answers()
    found = asked or missing_verdict(
        f"{control.reason}, before the model gave its verdict; to continue: {control.then}"
    )
    verdict = {**found, **count_fulfilled(outcome), **(shown or NOT_FILMED)}
    return replace(outcome, findings={**outcome.findings, "goal": verdict})


def _camera(context: SearchContext) -> Camera | None:
    """Return a renderer of film strips; None if the model accepts no images."""
    config = context.config
    return partial(film_strip, config.task) if config.shows_frames(context.work.llm) else None


def count_fulfilled(outcome: Outcome) -> dict[str, Any]:
    """Count the episodes that fulfil the goal by the reward's ``success``, and describe how the others ended."""
    episodes, tested = outcome.episodes, outcome.test is not None and bool(outcome.test.episodes)
    failed = outcome.test.failed if outcome.test is not None and tested else 0
    known = [e for e in episodes if e.success is not None]
    others = [e for e in known if not e.success] if known else episodes
    share = {"yes": sum(bool(e.success) for e in known), "of": len(known) + failed} if known else None
    ended = endings(others) + (f" In {failed} more the policy failed." if failed else "")
    kind = "test episodes" if tested else "episodes that chose it"
    return {"fulfilled": share, "episodes": kind, "otherwise": ended.strip()}


async def _film_episodes(context: SearchContext, outcome: Outcome) -> dict[str, Any]:
    """Write pictures of the best, median and worst episode; return them, with a reason if some are missing."""
    pictures, directory = [], context.journal.directory
    try:
        episodes = await episodes_to_show(context, outcome)
        for name, role in ROLES.items():
            episode = episodes.get(name)
            file = directory / PICTURE.format(role)
            file.unlink(missing_ok=True)
            if episode is None:
                continue
            png, _ = await asyncio.to_thread(film_strip, context.config.task, episode)
            with writing(directory):
                write_atomically(file, png)
            pictures.append(
                {
                    "role": role,
                    "file": file.name,
                    "seed": episode.seed,
                    "return": episode.return_,
                    "success": episode.success,
                }
            )
    except (PromptPOError, ValueError) as error:
        return {"pictures": pictures, "no_pictures": str(error)}
    return {"pictures": pictures, "no_pictures": ""}
