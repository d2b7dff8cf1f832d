"""Whether the best policy of a run does what was asked, by the model that judges episodes without their rewards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from promptpo.errors import BudgetSpentError, PromptPOError, ProviderError
from promptpo.llm.base import Message
from promptpo.program import Program
from promptpo.rollouts import Job, roll_out
from promptpo.run.records import Seeds
from promptpo.search import references
from promptpo.search.goal import system_prompt
from promptpo.search.preferring import Preferences
from promptpo.spec.reading import names_of
from promptpo.telling import prompting
from promptpo.telling.preferences import preferences_in, told, verdict_in
from sandbox import Trial

if TYPE_CHECKING:
    from promptpo.run.records import Candidate
    from promptpo.run.spender import Spender
    from promptpo.spec import TaskSpec
    from sandbox import Episode

BEST = "best"
EPISODES = 2


async def asked_for(
    goal: str, spec: TaskSpec, spender: Spender, best: Candidate, horizon: int
) -> dict[str, Any]:
    """The verdict, once for each best; a run does not fail for want of it.

    Args:
        goal: The sentence.
        spec: The task.
        spender: Asks and rolls out.
        best: The best of the run.
        horizon: Longest episode, in steps.

    Returns:
        ``asked``: "yes", "partly", "no", or None where that is not known; ``because``; ``pairs``: of how many pairs of
        episodes of the best and of another the best is nearer to the goal, by whom; ``misleading`` parts of the reward.
    """
    key = f"winner.{best.digest}"
    found: dict[str, Any] | None = spender.journal.find("preference", key)
    if found is not None:
        return found
    if not spender.can("judge"):
        return _unknown("the model judges no episodes")
    try:
        episodes, steps = await _episodes(spec, spender, best, horizon)
        content = await _judged(goal, spec, spender, key, episodes)
    except (ProviderError, BudgetSpentError) as error:
        return _unknown(f"it could not be asked: {str(error).rstrip('.')}")
    except PromptPOError as error:
        return _unknown(f"no episode could be shown: {str(error).rstrip('.')}")
    spender.journal.add("preference", key, {**content, "spent": {"test": steps}})
    return content


async def _judged(
    goal: str, spec: TaskSpec, spender: Spender, key: str, episodes: dict[str, Episode]
) -> dict[str, Any]:
    first = f"{BEST} 1"
    pairs = [(first, other) for other in episodes if first in episodes and not other.startswith(BEST)]
    names = names_of(spec.text)
    question = prompting.render(
        "goal_verdict",
        episodes=[(name, told(episode, names)) for name, episode in episodes.items()],
        pairs=pairs,
        others=len(episodes) > EPISODES,
    )
    completion = await spender.ask(
        f"goal.{key}", "judge", [Message("user", question)], system=system_prompt(goal, spec)
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
        "misleading": preferences.suspicious(),
    }


async def _episodes(
    spec: TaskSpec, spender: Spender, best: Candidate, horizon: int
) -> tuple[dict[str, Episode], int]:
    """Episodes of the best, and one each of policies that know nothing; and the steps that they took."""
    seeds = Seeds().validation(EPISODES)
    sources = {BEST: best.source, **references.programs(spec.action_space)}
    found: dict[str, Episode] = {}
    steps = 0
    for name, source in sources.items():
        values = Program.parse(source).values
        chosen = seeds if name == BEST else seeds[:1]
        trials = tuple(Trial(seed, values, horizon) for seed in chosen)
        rollout = await roll_out(spender.executor, Job(source, trials, record=True, stop_on_failure=False))
        steps += rollout.steps
        episodes = [episode for episode in rollout.episodes if episode.steps]
        found.update((f"{name} {n}", episode) for n, episode in enumerate(episodes, 1))
    return found, steps


def _unknown(why: str) -> dict[str, Any]:
    return {"asked": None, "because": why, "pairs": None, "misleading": []}
