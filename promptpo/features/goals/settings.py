"""Settings of goals in words: ``--goal`` and ``--judge``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from promptpo.core.budget import ALLOTMENTS, Allotment, step_allotment
from promptpo.core.config import Config
from promptpo.core.feature import FeatureSettings
from promptpo.core.journal import resume_command
from promptpo.errors import UsageError
from promptpo.settings import RunSetting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptpo.core.budget import Demand
    from promptpo.core.feature import SearchContext
    from promptpo.llm.base import LLM

GOAL_EPISODES, GOAL_CALLS = 10, 4
"""Number of episodes, of reference policies and a first policy under two rewards that the model may write, and maximum number of calls
beyond the one for the reward: a first policy, preferences, a better reward, and the verdict on the best."""

JudgeName = Literal["model", "me"]


@dataclass(frozen=True)
class GoalSettings(FeatureSettings):
    """The user's goal in words.

    Attributes:
        goal: The goal in words, such as "walk backwards without falling"; the model first writes a reward for it.
        judge: Who decides, before the search, which of two episodes comes closer to --goal: the model, or you, on a local web
            page.
        written: Number of initial policies, the last ones, that the model wrote while its reward was judged.
    """

    goal: Annotated[str, RunSetting("Environment", metavar="TEXT")] = ""
    judge: Annotated[JudgeName, RunSetting("Environment")] = "model"
    written: int = 0

    @property
    def rewards(self) -> bool:
        """See `FeatureSettings.rewards`."""
        return bool(self.goal)

    def result(self, context: SearchContext, findings: Mapping[str, Any], *, ran: bool) -> Mapping[str, Any]:
        """Return the goal and whether the best fulfils it."""
        if not self.goal:
            return {}
        journal = context.journal
        then = f"it has not been judged yet; continue with: {resume_command(journal.directory)}"
        verdict = findings.get("goal") or missing_verdict(then if ran else "no policy ran")
        first = (journal.find("decision", "goal") or {}).get("succeeded", {})
        return {"goal": {"text": self.goal, **verdict, "succeeded_at_start": first}}

    def check(self, config: Config, llm: LLM) -> None:
        """Refuse a goal for which no reward can be written: without a language model, or if a reward is given."""
        reward = config.task.reward
        if not self.goal and self.judge != "model":
            raise UsageError(
                "--judge me requires --goal: it asks you which of two episodes comes closer to the goal."
            )
        if not self.goal:
            return
        if reward is not None and reward.goal != self.goal:
            raise UsageError(
                "--goal has the model write the reward, but --reward supplies one: use only one of them."
            )
        if not (
            llm.capabilities.language_model and (reward is not None or "reward" in llm.capabilities.purposes)
        ):
            raise UsageError(
                "--goal needs a language model, which writes the reward: name one with --model, or write the reward "
                "yourself and give it with --reward."
            )


def missing_verdict(why: str) -> dict[str, Any]:
    """Return a missing verdict with its reason."""
    return {"asked": None, "because": why, "pairs": None}


def _demand(config: Config, llm: LLM, _: int) -> Demand | None:
    if not config.of(GoalSettings).goal or config.task.reward is not None:
        return None
    repairs = config.repairs * ("repair" in llm.capabilities.purposes)
    return step_allotment("reward", config.budget.steps, GOAL_EPISODES), 1 + repairs + GOAL_CALLS, ""


ALLOTMENTS["reward"] = Allotment(
    "probe", "try a reward for the goal", 0.02, 50, 10_000, demand=_demand
)  # steps of an episode
