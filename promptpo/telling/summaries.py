"""Feedback text for one candidate's rollouts, by the model's own feedback class where it wrote one."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from promptpo.envs.pictures import pictures_in
from promptpo.errors import BudgetSpentError, ProviderError
from promptpo.llm.base import Message
from promptpo.program import Program, answers
from promptpo.rollouts import Call
from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.records import Diagnosis, Told
from promptpo.spec.reading import names_of, posture_of
from promptpo.telling import feedback, prompting, replies
from promptpo.telling.maps import maps
from promptpo.telling.start import given_in_words
from promptpo.telling.trace import course, overview, trace, usual

if TYPE_CHECKING:
    from promptpo.run.config import Recipe
    from promptpo.run.spender import Spender
    from promptpo.spec import TaskSpec
    from sandbox import Episode, Record, Rollout

TARGET = "Feedback.summarize_trajectory"


@dataclass(slots=True)
class _Version:
    """One feedback class.

    Attributes:
        by: Journal key of the call that wrote it.
        source: Its module, repaired where that was needed.
        repairs: How many repairs it has had.
    """

    by: str
    source: str
    repairs: int = 0


class Summariser:
    """Turns trajectories into text.

    The feedback class is untrusted code like every other: it runs in the sandbox, is repaired when it
    crashes, and is given up for the one before it, in the end for the built-in summary, when it stays
    broken. The model may replace it; a new class is in force from the next round on.

    Args:
        spender: Asks the model for the class and its repairs, and knows where it runs.
        spec: What the model is told about the task.
        recipe: Which class to ask for, and for which episodes.
        repairs: Repair calls at most, for each class.
    """

    def __init__(self, spender: Spender, spec: TaskSpec, recipe: Recipe, *, repairs: int) -> None:
        self._spender, self._recipe = spender, recipe
        self._system = prompting.feedback_system_prompt(spec)
        self._names, self._posture = names_of(spec.text), posture_of(spec.text)
        self._reports_success, self._firsts = spec.reports_success, spec.firsts
        self.pictures: bool = bool(pictures_in(spec.observation_space))
        self._most_repairs = repairs
        self._versions: list[_Version] = []
        self._coming: _Version | None = None
        self._lock = asyncio.Lock()
        self.legends: dict[str, str] = {}
        self.since: dict[str, int] = {}

    @property
    def record(self) -> Record:
        """What is kept of rollouts: of pictures, what the policy made of them."""
        return "seen" if self.pictures else True

    @property
    def _form(self) -> str:
        """What a class is given, in words."""
        return prompting.form_of_trajectory(
            self._reports_success, sees_all=self._recipe.feedback_sees_all, pictures=self.pictures
        )

    @property
    def source(self) -> str:
        """The class in force; empty while the built-in summary is."""
        return self._versions[-1].source if self._versions else ""

    async def prepare(self) -> None:
        """Ask for the class, once, before the first round."""
        if not self._recipe.feedback_class or not self._spender.can("feedback"):
            return
        question = prompting.render(
            "feedback_class",
            form=self._form,
            sees_all=self._recipe.feedback_sees_all,
            legend=self._recipe.history != "winners",
        )
        try:
            completion = await self._spender.ask(
                "feedback", "feedback", [Message("user", question)], system=self._system
            )
        except (ProviderError, BudgetSpentError):
            return
        source = _class_in(completion.text)
        if source:
            self._put_in_force(_Version("feedback", source))

    def revise(self, text: str, key: str) -> None:
        """Take a new class out of an answer that was offered to bring one; `begin` puts it in force."""
        source = _class_in(text)
        if source and Program.parse(source).is_python and source != self.source:
            self._coming = _Version(key, source)

    def begin(self, round_: int) -> None:
        """Begin a round: a class that came with the one before is in force from now on."""
        key = f"r{round_}.feedback"
        found = self._spender.journal.find("decision", key)
        if found is not None:
            self._coming = _Version(found["by"], found["source"])
        coming, self._coming = self._coming, None
        if coming is None:
            return
        if found is None:
            self._spender.journal.add("decision", key, {"by": coming.by, "source": coming.source})
        self._put_in_force(coming)
        self.since[coming.by] = round_

    def _put_in_force(self, version: _Version) -> None:
        self._versions.append(version)
        self.legends[version.by] = replies.legend(version.source)

    async def summarise(self, rollout: Rollout, evaluation: Evaluation) -> tuple[str, Diagnosis]:
        """Feedback on a candidate: as one text, and episode by episode."""
        every = self._recipe.feedback_episodes == "all"
        finished = [e for e in rollout.episodes if e.failure is None]
        chosen = [(str(n), e) for n, e in enumerate(finished, 1)] if every else feedback.chosen(finished)
        episodes: list[Told] = []
        given, by = self._given(finished), ""
        for role, episode in chosen:
            text, by = await self._text(episode)
            episodes.append(feedback.told(role, episode, text, given.get(episode.seed, "")))
        diagnosis = Diagnosis(tuple(episodes), by=by, rewards=feedback.extremes(rollout.episodes))
        if not every:
            diagnosis = with_tables(diagnosis, rollout, self._names, self._posture)
        parts = [
            feedback.aggregate(evaluation),
            *map(feedback.episode_in_words, episodes),
            diagnosis.trace,
        ]
        if evaluation.output:
            parts.append(f"It printed:\n{evaluation.output[:500]}")
        return "\n\n".join(filter(None, parts)), diagnosis

    def _given(self, episodes: Sequence[Episode]) -> dict[int, str]:
        """What each episode was given in words, where that differs between episodes; of pictures it is not recorded."""
        seen = {
            e.seed: e.trajectory.observations[0] for e in episodes if e.trajectory and e.trajectory.rewards
        }
        if self.pictures or not seen:
            return {}
        return dict(zip(seen, given_in_words(list(seen.values()), self._firsts, self._names), strict=True))

    async def _text(self, episode: Episode) -> tuple[str, str]:
        """What the class in force says of an episode, and which class that is."""
        data = feedback.for_feedback_class(episode, sees_all=self._recipe.feedback_sees_all)
        while self._versions:
            version, source = self._versions[-1], self._versions[-1].source
            result = await self._spender.executor.call(Call(source, TARGET, data))
            if result.failure is None and result.value and result.value.strip():
                return result.value, version.by
            error = result.failure.message if result.failure else "it returned no text"
            detail = result.failure.detail if result.failure else ""
            async with self._lock:
                if self.source == source:  # nobody else has repaired it meanwhile
                    await self._repair(version, error, detail)
        return overview(episode, self._names, self._posture), ""

    async def _repair(self, version: _Version, error: str, detail: str) -> None:
        """Repair a class; where that cannot be, the one before it is in force again."""
        broken, version.source = version.source, ""
        if version.repairs < self._most_repairs and self._spender.can("repair"):
            version.repairs += 1
            version.source = await self._repaired(version, broken, error, detail)
        if version.source:
            self.legends[version.by] = replies.legend(version.source)
        else:
            self._versions.remove(version)

    async def _repaired(self, version: _Version, broken: str, error: str, detail: str) -> str:
        question = prompting.render(
            "repair",
            subject="feedback class",
            what="failed",
            source=broken.strip(),
            error=error,
            detail=detail[:2000].strip(),
            form=self._form,
        )
        key = "feedback" if version.by == "feedback" else f"feedback.{version.by}"
        try:
            completion = await self._spender.ask(
                f"{key}.repair{version.repairs}",
                "repair",
                [Message("user", question)],
                system=self._system,
            )
        except (ProviderError, BudgetSpentError):
            return ""
        return _class_in(completion.text)


def with_tables(
    diagnosis: Diagnosis, rollout: Rollout, names: Mapping[str, str], posture: Collection[str]
) -> Diagnosis:
    """The same with steps of the episodes that tell most, as tables and maps.

    Args:
        diagnosis: What is known of them.
        rollout: The recorded episodes.
        names: From `promptpo.spec.reading.names_of`.
        posture: From `promptpo.spec.reading.posture_of`.
    """
    chosen = feedback.chosen(rollout.episodes)
    shown = chosen[0][1] if chosen else None
    failed = next((e for e in rollout.episodes if e.failure is not None), None)
    first = failed or shown
    middle = next((e for role, e in chosen if role in {"median", "typical"}), None)
    return replace(
        diagnosis,
        trace=trace(shown, names, posture) if shown else "",
        maps=maps(shown, names) if shown else "",
        beginning=course(first, names, posture) if first else "",
        usual=usual(middle, names, posture) if middle else "",
    )


def _class_in(text: str) -> str:
    return answers.extract(text, class_name="Feedback", method="summarize_trajectory").source
