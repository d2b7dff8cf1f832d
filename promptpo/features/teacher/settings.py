"""Settings of a trained agent as a teacher: ``--teacher``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from promptpo.core.budget import ALLOTMENTS, Allotment, step_allotment
from promptpo.core.config import Config
from promptpo.core.feature import FeatureSettings
from promptpo.run.episodes import SHORT_EPISODE
from promptpo.settings import RunSetting
from promptpo_sandbox.text import clean_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptpo.core.budget import Demand
    from promptpo.core.feature import SearchContext
    from promptpo.llm.base import LLM

TEACHER = "teacher"
"""Name of a trained agent among the references."""

EPISODES = "episodes"
"""Journal key of its training episodes."""


def _find_agent(path: Any) -> str:
    from promptpo.rollouts.agents import agent_file

    return str(agent_file(path))


@dataclass(frozen=True)
class TeacherSettings(FeatureSettings):
    """A trained agent, loaded from a file.

    Attributes:
        teacher: A trained stable-baselines3 agent to learn from and beat. Loading it runs code in the file.
    """

    teacher: Annotated[
        str | None, RunSetting("Search", metavar="AGENT.zip", words=Path, resolve=_find_agent)
    ] = None

    def is_on(self, config: Config, llm: LLM) -> bool:  # noqa: ARG002
        """See `FeatureSettings.is_on`."""
        return self.teacher is not None

    def check_new(self, config: Config) -> None:
        """Refuse an agent that cannot play the task; the environment is reset and never stepped."""
        if self.teacher is not None:
            from promptpo.rollouts.agents import play_agent

            limit = config.task.max_episode_steps or SHORT_EPISODE
            play_agent(Path(self.teacher), replace(config.task, max_episode_steps=limit), ())

    @property
    def trust_notice(self) -> str:
        """See `FeatureSettings.trust_notice`."""
        return f"loads the trained agent {clean_name(self.teacher)}" if self.teacher else ""

    def result(self, context: SearchContext, findings: Mapping[str, Any], *, ran: bool) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the agent's file, and how closely the best imitates it."""
        if self.teacher is None:
            return {}
        agent = (context.journal.find(TEACHER, EPISODES) or {}).get("agent", "")
        return {TEACHER: {"agent": agent, "fidelity": findings.get("fidelity")}}


def _demand(config: Config, _: LLM, horizon: int) -> Demand | None:
    watched = config.of(TeacherSettings).teacher is not None
    return (step_allotment(TEACHER, config.budget.steps, horizon), 0, "") if watched else None


ALLOTMENTS[TEACHER] = Allotment(
    "reference", "watch the trained agent", 0.1, 1, 10, demand=_demand
)  # episodes
