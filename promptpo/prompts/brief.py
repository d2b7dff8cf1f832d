"""What is said of episodes in a run without a language model: for people, and in few words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.core.candidate import Diagnosis
from promptpo.prompts import feedback
from promptpo.prompts.columns import missing
from promptpo.spec.reading import names_of

if TYPE_CHECKING:
    from promptpo.rollouts.evaluation import Evaluation
    from promptpo.spec import TaskSpec
    from promptpo_sandbox import Rollout


class BriefNarrator:
    """Sums episodes up.

    Args:
        spec: Of the task.
    """

    legend = ""

    def __init__(self, spec: TaskSpec) -> None:
        self._names = names_of(spec.text)

    async def prepare(self) -> None:
        """Nothing comes before the first round."""

    def sum_up(self, evaluation: Evaluation) -> str:
        """An evaluation in one or two sentences."""
        return feedback.aggregate(evaluation)

    async def summarise(self, rollout: Rollout, evaluation: Evaluation) -> tuple[str, Diagnosis]:
        """The same, and which observations were NaN."""
        return self.sum_up(evaluation), Diagnosis(trace=missing(rollout.episodes, self._names))
