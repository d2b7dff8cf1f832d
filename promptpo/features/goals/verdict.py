"""Verdict on whether the best policy of a run fulfils the goal, by a model that sees episodes without rewards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from promptpo.errors import BudgetSpentError, PromptPOError, ProviderError
from promptpo.features.goals.preferences import Preferences
from promptpo.features.goals.prompts import describe_episode, preferences_in, verdict_in
from promptpo.features.goals.reward import job_of, system_prompt
from promptpo.features.goals.settings import GoalSettings, missing_verdict
from promptpo.features.goals.strips import Camera, strips_of
from promptpo.llm.base import Message
from promptpo.program.reference_policies import programs as reference_programs
from promptpo.prompts import prompting
from promptpo.prompts.episode_statistics import all_episodes, summarize_references
from promptpo.spec.reading import names_of

if TYPE_CHECKING:
    from promptpo.core.feature import SearchContext
    from promptpo.core.final_test import Outcome
    from promptpo_sandbox import Episode

BEST = "best"
TYPICAL, WORST = f"{BEST} (typical)", f"{BEST} (worst)"

FINEST = f"{BEST} (best)"
"""Shown to people only; the judge gets the other two."""


async def judge_goal(
    context: SearchContext, outcome: Outcome, camera: Camera | None = None
) -> dict[str, Any]:
    """Return the verdict, recorded once for each best; a failure does not fail the run.

    The model gets statistics of all test episodes, and a typical and the worst of them.

    Args:
        context: Context of the run.
        outcome: Outcome of the search, with a best candidate.
        camera: Renders film strips; None if the model accepts no images.

    Returns:
        ``asked``: "yes", "partly", "no", or None if unknown; ``because``: the reason; ``pairs``: counts of pairs of an episode of the
        best and one of another policy, by which of them is closer to the goal.
    """
    work = context.work
    key = f"winner.{outcome.program.digest}"
    if work.journal.find("preference", key) is None and not work.supports("judge"):
        return missing_verdict("the model judges no episodes")

    async def judge() -> dict[str, Any]:
        return await _ask_verdict(context, outcome, await episodes_to_show(context, outcome), camera)

    try:
        return dict(await work.journal.once_async("preference", key, judge))
    except (ProviderError, BudgetSpentError) as error:
        return missing_verdict(f"the model could not be asked: {str(error).rstrip('.')}")
    except PromptPOError as error:
        return missing_verdict(f"no episode could be shown: {str(error).rstrip('.')}")


async def _ask_verdict(
    context: SearchContext, outcome: Outcome, episodes: dict[str, Episode], camera: Camera | None
) -> dict[str, Any]:
    episodes = {name: episode for name, episode in episodes.items() if name != FINEST}
    best = [name for name in episodes if name.startswith(BEST)]
    others = [name for name in episodes if name not in best]
    pairs = [(first, other) for first in best[:1] for other in others]
    names = names_of(context.spec.text)
    question = prompting.render(
        "goal_verdict",
        tested=_episode_rows(outcome),
        references=summarize_references(outcome.references),
        episodes=[(name, describe_episode(episode, names)) for name, episode in episodes.items()],
        pairs=pairs,
        others=bool(others),
    )
    images = await strips_of(camera, {f"Episode {name}": episodes[name] for name in best})
    completion = await context.work.ask(
        f"goal.winner.{outcome.program.digest}",
        "judge",
        [Message("user", question, images)],
        system=system_prompt(context.config.of(GoalSettings).goal, context.spec),
    )
    asked, because = verdict_in(completion.text)
    preferences = Preferences.of(pairs, preferences_in(completion.text, len(pairs)), episodes)
    return {
        "asked": asked,
        "because": because or "the answer gave no reason",
        "pairs": {
            "preferred": sum(a.startswith(BEST) for a, _ in preferences.clear),
            "not_preferred": sum(not a.startswith(BEST) for a, _ in preferences.clear),
            "against_the_reward": len(preferences.against),
        },
    }


def _episode_rows(outcome: Outcome) -> list[tuple[str, str]]:
    """Return statistics of the best's test episodes, by kind."""
    kinds = {
        "held-out test episodes": outcome.test,
        "episodes on variants that it never met": outcome.held_out,
    }
    return [
        (f"all {len(episodes.episodes)} {name}", all_episodes(episodes))
        for name, episodes in kinds.items()
        if episodes is not None and episodes.episodes
    ]


async def episodes_to_show(context: SearchContext, outcome: Outcome) -> dict[str, Episode]:
    """Replay the best, a typical and the worst episode of the best, and one episode of each reference policy."""
    chosen, spec = _select_seeds(outcome), context.spec
    typical = next(iter(chosen.values()))
    programs: list[tuple[str, dict[str, int]]] = [(outcome.program.source, chosen)]
    programs += [(s, {name: typical}) for name, s in reference_programs(spec.action_space).items()]
    jobs = [job_of(spec, source, seeds.values(), context.horizon) for source, seeds in programs]
    rollouts = await context.work.play("shown", outcome.program.digest, jobs)
    return {
        name: episode
        for (_, seeds), rollout in zip(programs, rollouts, strict=True)
        for name, episode in zip(seeds, rollout.episodes, strict=False)
        if episode.steps
    }


def _select_seeds(outcome: Outcome) -> dict[str, int]:
    """Return the seeds of the best's test episodes to show, by name."""
    known = sorted(outcome.episodes, key=lambda e: e.return_)
    found = {TYPICAL: known[len(known) // 2].seed, WORST: known[0].seed, FINEST: known[-1].seed}
    by_seed = {seed: name for name, seed in reversed(found.items())}
    return {name: seed for name, seed in found.items() if by_seed[seed] == name}
