"""Feedback text for one candidate's rollouts, by the model's own feedback class where it wrote one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from promptpo.errors import BudgetSpentError, ProviderError
from promptpo.llm.base import Message
from promptpo.program import answers
from promptpo.rollouts import Call
from promptpo.rollouts.evaluation import Evaluation
from promptpo.telling import feedback, prompting

if TYPE_CHECKING:
    from promptpo.run.config import Recipe
    from promptpo.run.spender import Spender
    from sandbox import Episode, Rollout

TARGET = "Feedback.summarize_trajectory"

FORMS = {
    True: (
        'a dict: "observations" (list of T+1 observations, the last one after the final step), "actions"\n'
        '(list of T), "rewards" (list of T floats), "terminated", "truncated" (bools), "success" (bool or None).'
    ),
    False: "a list of the T observations seen before each step.",
}


class Summariser:
    """Turns trajectories into text.

    The feedback class is untrusted code like every other: it runs in the sandbox, is repaired when it
    crashes, and is given up for the built-in summary when it stays broken.

    Args:
        spender: Asks the model for the class and its repairs, and knows where it runs.
        system: The system prompt of every call.
        recipe: Which class to ask for, and for which episodes.
        repairs: Repair calls at most.
    """

    def __init__(self, spender: Spender, system: str, recipe: Recipe, *, repairs: int) -> None:
        self._spender, self._system, self._recipe = spender, system, recipe
        self._repairs_left = repairs
        self._repairs_made = 0
        self._source = ""
        self._lock = asyncio.Lock()

    async def prepare(self) -> None:
        """Ask for the class, once, before the first round."""
        if not self._recipe.feedback_class or not self._spender.can("feedback"):
            return
        question = prompting.render(
            "feedback_class",
            form=FORMS[self._recipe.feedback_sees_all],
            sees_all=self._recipe.feedback_sees_all,
        )
        try:
            completion = await self._spender.ask(
                "feedback", "feedback", [Message("user", question)], system=self._system
            )
        except (ProviderError, BudgetSpentError):
            return
        self._source = answers.extract(
            completion.text, class_name="Feedback", method="summarize_trajectory"
        ).source

    async def summarise(self, rollout: Rollout, evaluation: Evaluation) -> str:
        """Feedback on a candidate: the aggregate, then single episodes."""
        parts = [feedback.aggregate(evaluation)]
        if self._recipe.feedback_episodes == "all":
            finished = [e for e in rollout.episodes if e.failure is None]
            chosen = [(f"Episode {n}", episode) for n, episode in enumerate(finished, 1)]
        else:
            chosen = feedback.typical(rollout.episodes)
        for label, episode in chosen:
            parts.append(feedback.summary(label, episode, await self._text(episode)))
        if evaluation.output:
            parts.append(f"It printed:\n{evaluation.output[:500]}")
        return "\n\n".join(parts)

    async def _text(self, episode: Episode) -> str:
        data = feedback.for_feedback_class(episode, sees_all=self._recipe.feedback_sees_all)
        while self._source:
            source = self._source
            result = await self._spender.executor.call(Call(source, TARGET, data))
            if result.failure is None and result.value and result.value.strip():
                return result.value
            error = result.failure.message if result.failure else "it returned no text"
            detail = result.failure.detail if result.failure else ""
            async with self._lock:
                if self._source == source:  # nobody else has repaired it meanwhile
                    await self._repair(error, detail)
        return feedback.built_in_summary(episode)

    async def _repair(self, error: str, detail: str) -> None:
        broken, self._source = self._source, ""
        if self._repairs_made >= self._repairs_left or not self._spender.can("repair"):
            return
        self._repairs_made += 1
        question = prompting.render(
            "repair",
            what="(your Feedback class) failed",
            source=broken.strip(),
            error=error,
            detail=detail[:2000],
        )
        try:
            completion = await self._spender.ask(
                f"feedback.repair{self._repairs_made}",
                "repair",
                [Message("user", question)],
                system=self._system,
            )
        except (ProviderError, BudgetSpentError):
            return
        self._source = answers.extract(
            completion.text, class_name="Feedback", method="summarize_trajectory"
        ).source
