"""Feedback on one candidate's rollouts, by the model's own feedback class if it wrote one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptpo.core.candidate import Diagnosis
from promptpo.core.feature import EpisodeNarrator
from promptpo.envs.pictures import pictures_in
from promptpo.errors import BudgetSpentError, ProviderError
from promptpo.llm.base import Message
from promptpo.program import answers
from promptpo.prompts import feedback, limits, prompting, replies, scores
from promptpo.prompts.columns import missing
from promptpo.prompts.decisions import differing_decisions
from promptpo.prompts.first_observation import missions_in_words
from promptpo.prompts.step_table import render_steps
from promptpo.rollouts import Call
from promptpo.rollouts.evaluation import Evaluation, extremes
from promptpo.spec.reading import names_of

if TYPE_CHECKING:
    from promptpo.core.candidate import EpisodeSummary
    from promptpo.core.config import Config
    from promptpo.core.history import History
    from promptpo.core.work import RecordedWork
    from promptpo.spec import TaskSpec
    from promptpo_sandbox import Episode, Rollout

TARGET = "Feedback.summarize_trajectory"

CALL = "feedback"
"""Journal key of the call that writes the class."""


class EpisodeSummarizer(EpisodeNarrator):
    """Turns trajectories into text.

    The feedback class is untrusted code like any other: it runs in the sandbox, is repaired if it crashes, and is replaced
    by the built-in summary if it stays broken.

    Args:
        work: Requests the class and its repairs, and runs it.
        spec: The task as described to the model.
        config: Decides whether to request a class, for which episodes, and how often it may be repaired.

    Attributes:
        source: The present class; empty while the built-in summary is used.
        legend: The class's explanation of its labels.
        pictures: Whether observations are images, for which the class gets the policy's perceptions.
    """

    def __init__(self, work: RecordedWork, spec: TaskSpec, config: Config) -> None:
        self._work, self._wanted, self._follows_paper = (
            work,
            config.switches.feedback_class,
            config.follows_paper,
        )
        self._system = prompting.feedback_system_prompt(spec)
        self._names, self._horizon = names_of(spec.text), spec.horizon or spec.cut or 0
        self._reports_success, self._firsts = spec.reports_success, spec.firsts
        self.pictures: bool = bool(pictures_in(spec.observation_space))
        self._most_repairs = config.repairs
        self._repairs = 0
        self._lock = asyncio.Lock()
        self.source = self.legend = ""
        self._played: dict[Any, Any] = {}

    @property
    def _form(self) -> str:
        """The constructor arguments of a feedback class, in words."""
        return prompting.form_of_trajectory(
            self._reports_success, sees_all=not self._follows_paper, pictures=self.pictures
        )

    async def prepare(self) -> None:
        """Request the class, once, before the first round."""
        if not self._wanted or not self._work.supports("feedback"):
            return
        question = prompting.render(
            "feedback_class",
            form=self._form,
            sees_all=not self._follows_paper,
            legend=not self._follows_paper,
            most=limits.SUMMARY,
        )
        try:
            completion = await self._work.ask(
                CALL, "feedback", [Message("user", question)], system=self._system
            )
        except (ProviderError, BudgetSpentError):
            return
        self._put_in_force(_class_in(completion.text))

    def _put_in_force(self, source: str) -> None:
        self.source = source
        self.legend = replies.legend(source) if source else self.legend

    def sum_up(self, evaluation: Evaluation) -> str:
        """Summarise an evaluation in one or two sentences."""
        return feedback.aggregate(evaluation, self._horizon)

    def contrast(self, history: History) -> list[Any]:
        """Return states in which leader and runner-up decide differently, if this process has seen both play.

        Episodes of all other programs are dropped.
        """
        two = [attempt.evaluation.returns for attempt in (history.best(), history.runner_up()) if attempt]
        self._played = {returns: self._played.get(returns, []) for returns in two}
        return differing_decisions([*self._played.values()], self._names, scores.starts(history))

    async def summarise(self, rollout: Rollout, evaluation: Evaluation) -> tuple[str, Diagnosis]:
        """Return feedback on a candidate: as one text, and episode by episode."""
        every = self._follows_paper
        finished = [e for e in rollout.episodes if e.failure is None]
        self._played[evaluation.returns] = [e for e in finished if e.trajectory]
        chosen = (
            [(str(n), e) for n, e in enumerate(finished, 1)] if every else feedback.select_episodes(finished)
        )
        episodes: list[EpisodeSummary] = []
        given, by = self._missions(finished), ""
        for role, episode in chosen:
            text, by = await self._text(episode)
            episodes.append(
                feedback.summarize_episode(role, episode, text, given.get(episode.seed, ""), self._horizon)
            )
        diagnosis = Diagnosis(
            tuple(episodes),
            by=by,
            rewards=extremes(episode.extremes for episode in rollout.episodes),
            constant=feedback.only_action_taken(rollout),
        )
        if not every:
            diagnosis = with_steps(diagnosis, rollout, self._names)
        parts = [
            feedback.aggregate(evaluation, self._horizon),
            *map(feedback.episode_in_words, episodes),
            diagnosis.trace,
        ]
        if evaluation.output:
            parts.append(f"It printed:\n{evaluation.output[:500]}")
        return "\n\n".join(filter(None, parts)), diagnosis

    def _missions(self, episodes: Sequence[Episode]) -> dict[int, str]:
        """Return the missions of the episodes in words, if they differ; empty for images, which are not recorded."""
        seen = {
            e.seed: e.trajectory.observations[0] for e in episodes if e.trajectory and e.trajectory.rewards
        }
        if self.pictures or not seen:
            return {}
        return dict(zip(seen, missions_in_words(list(seen.values()), self._firsts, self._names), strict=True))

    async def _text(self, episode: Episode) -> tuple[str, str]:
        """Describe an episode with the present feedback class, and name that class."""
        data = feedback.for_feedback_class(episode, sees_all=not self._follows_paper)
        while source := self.source:
            result = await self._work.executor.run(Call(source, TARGET, data))
            if result.failure is None and result.value and result.value.strip():
                return result.value, CALL
            error = result.failure.message if result.failure else "it returned no text"
            detail = result.failure.detail if result.failure else ""
            async with self._lock:
                if self.source == source:  # not repaired by another task meanwhile
                    self._put_in_force(await self._repair(source, error, detail))
        return render_steps(episode, self._names), ""

    async def _repair(self, broken: str, error: str, detail: str) -> str:
        """Return the repaired class; empty if it stays broken, or may not be repaired again."""
        if self._repairs >= self._most_repairs or not self._work.supports("repair"):
            return ""
        self._repairs += 1
        question = prompting.render(
            "repair",
            subject="feedback class",
            what="failed",
            source=broken.strip(),
            error=error,
            detail=detail[:2000].strip(),
            form=self._form,
        )
        try:
            completion = await self._work.ask(
                f"{CALL}.repair{self._repairs}",
                "repair",
                [Message("user", question)],
                system=self._system,
            )
        except (ProviderError, BudgetSpentError):
            return ""
        return _class_in(completion.text)


def with_steps(diagnosis: Diagnosis, rollout: Rollout, names: Mapping[str, str]) -> Diagnosis:
    """Add a table of steps of the failed episode, or of the worst one.

    Args:
        diagnosis: Diagnosis of the episodes.
        rollout: The recorded episodes.
        names: From `promptpo.spec.reading.names_of`.
    """
    failed = next((e for e in rollout.episodes if e.failure is not None), None)
    shown = failed or next((e for _, e in feedback.select_episodes(rollout.episodes)), None)
    if shown is None:
        return diagnosis
    parts = [render_steps(shown, names), missing(rollout.episodes, names)]
    return replace(diagnosis, trace="\n".join(filter(None, parts)))


def _class_in(text: str) -> str:
    return answers.extract_program(text, class_name="Feedback").source
