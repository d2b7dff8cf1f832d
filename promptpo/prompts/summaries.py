"""Feedback text for one candidate's rollouts, by the model's own feedback class where it wrote one."""

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

    The feedback class is untrusted code like every other: it runs in the sandbox, is repaired when it
    crashes, and is given up for the built-in summary when it stays broken.

    Args:
        work: Asks the model for the class and its repairs, and knows where it runs.
        spec: What the model is told about the task.
        config: Says whether a class is asked for, for which episodes, and how often it may be repaired.

    Attributes:
        source: The class in force; empty while the built-in summary is.
        legend: What its labels mean, in its words.
        pictures: Whether observations are pictures, of which it is given what the policy perceived.
    """

    def __init__(self, work: RecordedWork, spec: TaskSpec, config: Config) -> None:
        self._work, self._wanted, self._published = (
            work,
            config.switches.feedback_class,
            config.published,
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
        """The arguments that a class is constructed with, in words."""
        return prompting.form_of_trajectory(
            self._reports_success, sees_all=not self._published, pictures=self.pictures
        )

    async def prepare(self) -> None:
        """Ask for the class, once, before the first round."""
        if not self._wanted or not self._work.supports("feedback"):
            return
        question = prompting.render(
            "feedback_class",
            form=self._form,
            sees_all=not self._published,
            legend=not self._published,
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
        """An evaluation in one or two sentences."""
        return feedback.aggregate(evaluation, self._horizon)

    def contrast(self, history: History) -> list[Any]:
        """Find where the leader and the runner-up decide differently in the same state, if this process saw both play.

        Episodes of all other programs are dropped.
        """
        two = [attempt.evaluation.returns for attempt in (history.best(), history.runner_up()) if attempt]
        self._played = {returns: self._played.get(returns, []) for returns in two}
        return differing_decisions([*self._played.values()], self._names, scores.starts(history))

    async def summarise(self, rollout: Rollout, evaluation: Evaluation) -> tuple[str, Diagnosis]:
        """Feedback on a candidate: as one text, and episode by episode."""
        every = self._published
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
        """Missions of the episodes in words, if they differ; those of images are not recorded."""
        seen = {
            e.seed: e.trajectory.observations[0] for e in episodes if e.trajectory and e.trajectory.rewards
        }
        if self.pictures or not seen:
            return {}
        return dict(zip(seen, missions_in_words(list(seen.values()), self._firsts, self._names), strict=True))

    async def _text(self, episode: Episode) -> tuple[str, str]:
        """Describe an episode with the feedback class in force, and name that class."""
        data = feedback.for_feedback_class(episode, sees_all=not self._published)
        while source := self.source:
            result = await self._work.executor.run(Call(source, TARGET, data))
            if result.failure is None and result.value and result.value.strip():
                return result.value, CALL
            error = result.failure.message if result.failure else "it returned no text"
            detail = result.failure.detail if result.failure else ""
            async with self._lock:
                if self.source == source:  # nobody else has repaired it meanwhile
                    self._put_in_force(await self._repair(source, error, detail))
        return render_steps(episode, self._names), ""

    async def _repair(self, broken: str, error: str, detail: str) -> str:
        """The class without its fault; empty where it stays broken, or may not be repaired again."""
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
    """The same with steps of the episode that failed, or of the worst one, as a table.

    Args:
        diagnosis: What is known of them.
        rollout: The recorded episodes.
        names: From `promptpo.spec.reading.names_of`.
    """
    failed = next((e for e in rollout.episodes if e.failure is not None), None)
    shown = failed or next((e for _, e in feedback.select_episodes(rollout.episodes)), None)
    if shown is None:
        return diagnosis
    told = [render_steps(shown, names), missing(rollout.episodes, names)]
    return replace(diagnosis, trace="\n".join(filter(None, told)))


def _class_in(text: str) -> str:
    return answers.extract_program(text, class_name="Feedback").source
