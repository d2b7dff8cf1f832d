"""The requests to a language model; not imported in runs without one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from promptpo.core.evaluate import ANSWER_PROBLEMS
from promptpo.core.feature import RequestWriter, merge
from promptpo.errors import ProviderError
from promptpo.llm.base import Completion, Image, Message
from promptpo.prompts import feedback, program_summary, prompting, replies, scores
from promptpo.prompts.context import PromptContext
from promptpo.prompts.first_observation import start_in_words
from promptpo.prompts.summaries import EpisodeSummarizer

if TYPE_CHECKING:
    from promptpo.core.candidate import Attempt
    from promptpo.core.feature import Feature, Plan, RunStatus, SearchContext
    from promptpo.core.history import History
    from promptpo.program.answers import Answer


class Conversation(RequestWriter):
    """Writes the requests of a run.

    Args:
        context: Context of the run.

    Attributes:
        summariser: Describes episodes in words.
    """

    def __init__(self, context: SearchContext) -> None:
        config = context.config
        self._context, self.system = context, ""
        self.summariser = EpisodeSummarizer(context.work, context.spec, config)
        self._known: PromptContext | None = None

    def begin(self, history: History, status: RunStatus) -> None:
        """Begin a round: settle what all its requests say about the run's status."""
        spec, config = self._context.spec, self._context.config
        self.system = prompting.system_prompt(spec, config)
        self._known = PromptContext(
            history,
            status,
            legend=self.summariser.legend,
            start=start_in_words(spec, texts=config.reveals in {"source", "named"}),
            one_start=spec.one_start,
            horizon=spec.horizon or spec.cut or 0,
            decisions=self.summariser.contrast(history),
            pictures=self.summariser.pictures,
        )

    def question(self, plan: Plan, features: Sequence[Feature]) -> list[Message]:
        """Return the request for one sample, including the sections of features."""
        if self._known is None:
            raise RuntimeError("begin the round first")
        room = max(1000, self._context.config.max_prompt_tokens - prompting.tokens(self.system))
        status = self._known.status
        known = replace(
            self._known,
            lasting=merge(feature.persistent_sections(status.round) for feature in features),
            remarks=merge(feature.remarks() for feature in features),
        )
        offer = "".join(feature.section(plan, status) for feature in features)
        prompt = prompting.policy_prompt(plan, known, offer=offer, max_tokens=room)
        config, frames = self._context.config, self._context.spec.first_frames
        shown = (
            frames[: None if plan.kind == "first" else 1]
            if config.shows_frames(self._context.work.llm)
            else ()
        )
        images = tuple(Image(caption, png) for caption, png in shown)
        return [Message("user", prompt, images)]

    def ceiling(self, plan: Plan, answer: Answer) -> str:
        """Return why an answer without code sees no way to improve; empty if it does not say so or may not."""
        return replies.ceiling(answer.prose) if plan.may_end and answer.problem else ""

    def ask_again(self, completion: Completion, answer: Answer) -> list[Message]:
        """Return the messages that ask again after an answer that is empty, cut off or without code."""
        shorter = 120 if answer.problem in {"cut", "too_long"} else None
        what = ANSWER_PROBLEMS[answer.problem or "no_code"]
        answered = completion.text.strip()[-4000:] or "(an empty answer)"
        text = prompting.render("continue", what=what, shorter=shorter)
        return [Message("assistant", answered), Message("user", text)]

    def repair(self, attempt: Attempt) -> list[Message]:
        """Return the request to fix a program that failed."""
        evaluation = attempt.evaluation
        text = prompting.render(
            "repair",
            subject="policy",
            what=feedback.what_it_did(evaluation.outcome),
            source=attempt.candidate.source.strip(),
            error=evaluation.error,
            detail=evaluation.detail[:3000].strip(),
        )
        return [Message("user", text)]

    async def reflect(self, history: History) -> str:
        """Ask for conclusions from the winner of the round about to end; empty if reflection is off."""
        config, work = self._context.config, self._context.work
        round_, ranked = history.rounds + 1, history.ranking()
        places = {attempt.id: n for n, attempt in enumerate(ranked)}
        ran = [attempt for attempt in history.of_round(round_) if history.runs(attempt)]
        winner = min(
            ran,
            key=lambda attempt: places.get(history.equivalents.get(attempt.id, attempt.id), len(places)),
            default=None,
        )
        over = (
            self._context.journal.find("round", f"r{round_}") is not None
        )  # the last round of a run that is now extended
        wanted = config.follows_paper and round_ < config.budget.rounds and not over
        if winner is None or not wanted or not work.supports("reflection"):
            return ""
        others = [attempt for attempt in ranked if attempt.id != winner.id]
        question = prompting.render(
            "reflection",
            title=winner.id,
            code=winner.candidate.source.strip(),
            feedback=winner.feedback,
            earlier=[
                f"{attempt.id}: return {scores.score(history.evidence(attempt))} ({program_summary.idea(attempt, 140)})"
                for attempt in others[:10]
            ],
        )
        try:
            completion = await work.ask(
                f"r{round_}.reflection", "reflection", [Message("user", question)], system=self.system
            )
        except ProviderError:
            return ""
        return completion.text.strip()[:2000]
