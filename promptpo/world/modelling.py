"""The run's world model: written by program search and by the language model, whichever predicts better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from promptpo.errors import BudgetSpentError, ProviderError
from promptpo.llm.base import Message
from promptpo.program import Program, answers
from promptpo.run.artifacts import keep, kept
from promptpo.telling import prompting
from promptpo.world import shown
from promptpo.world.baseline.writer import write_world
from promptpo.world.data import FOLDER, MOST_BYTES, Experience
from promptpo.world.fitting import fitted
from promptpo.world.numbers import quantities
from promptpo.world.scoring import scored
from promptpo.world.space_text import expression, plain, restored
from promptpo.world.words import as_data, in_words

if TYPE_CHECKING:
    from promptpo.run.spender import Spender
    from promptpo.spec import TaskSpec
    from promptpo_sandbox import Rollout

CALLS = 2
"""Answers that a language model is asked for each time the model is made anew, corrections included."""

GOOD = 0.99
"""A model that is worth so much is not asked to be improved."""

STARTS = 20
"""Observations to start from that are kept with a model."""


@dataclass(frozen=True, slots=True)
class Modelled:
    """A world model and what it is worth.

    Attributes:
        source: The module, with fitted numbers; empty where none could be written.
        score: What its held-out score says, as the journal keeps it.
        by: Journal key of the call that wrote it; empty for program search.
        mismatches: Its worst predictions in words.
    """

    source: str
    score: Mapping[str, Any]
    by: str = ""
    mismatches: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether it may be tuned in or planned with."""
        return bool(self.score["usable"])

    @property
    def params(self) -> dict[str, float] | None:
        """Values of its ``PARAMS``."""
        return Program.parse(self.source).values

    @property
    def worth(self) -> float:
        """One number from 0 to 1."""
        return float(self.score["worth"])


class Modeller:
    """Keeps the steps of a run and makes world models of them.

    Args:
        spec: The task.
        spender: Asks and rolls out.
        horizon: Longest episode, in steps.

    Attributes:
        spaces: Of observations and actions.
        possible: Whether observations are numbers that a model can be held against; pictures and texts are not.
        experience: What is known.
    """

    def __init__(self, spec: TaskSpec, spender: Spender, horizon: int) -> None:
        self._horizon = horizon
        self._spec, self._spender, self._journal = spec, spender, spender.journal
        self.spaces = (spec.observation_space, spec.action_space)
        self.possible = quantities(self.spaces[0]) is not None
        self.experience = Experience(*self.spaces)
        self._written: Modelled | None = None

    def take(self, key: str, rollout: Rollout | None) -> None:
        """Learn from a rollout; one that an earlier process of the run has made is on the shelf, if anywhere.

        Args:
            key: Its name in the journal.
            rollout: With trajectories; None where only its result is known.
        """
        if not self.possible:
            return
        file = self._journal.directory / FOLDER / key
        if rollout is None:
            rollout = kept(file)
        else:
            keep(rollout, file, MOST_BYTES)
        if rollout is not None:
            self.experience.add([rollout])

    async def model(self, key: str) -> Modelled:
        """The best model of what is known by now, made once in a run.

        Args:
            key: Its name in the journal.
        """

        async def made() -> dict[str, Any]:
            best = await self._scored(write_world(*self.spaces, self.experience.fitting))
            if self._written is not None:  # there are new steps to fit it to and to hold it against
                again = await self._fitted(self._written.source, self._written.by)
                best = max(best, again, key=lambda one: one.worth)
            return self._recorded(await self._asked(key, best) if self._spender.can("world") else best)

        found = await self._journal.once_async("world", key, made)
        best = Modelled(found["source"], found["score"], found["by"])
        self._written = best if best.by else self._written
        return best

    def _recorded(self, best: Modelled) -> dict[str, Any]:
        """What the journal keeps of a model: all that an export needs."""
        return {
            "source": best.source,
            "score": best.score,
            "by": best.by,
            "steps": self.experience.steps,
            "horizon": self._horizon,
            "written": [expression(space) for space in self.spaces],
            "start": restored(self.spaces[0], "start"),
            "starts": [plain(start) for start in self.experience.starts(STARTS)],
        }

    async def _scored(self, source: str, by: str = "") -> Modelled:
        executor, held_out = self._spender.executor, self.experience.held_out
        score = await scored(executor, source, Program.parse(source).values, held_out, self.spaces)
        return Modelled(source, as_data(score), by, score.mismatches)

    async def _fitted(self, source: str, by: str) -> Modelled:
        values = await fitted(self._spender.executor, source, self.experience.fitting, self.spaces)
        return await self._scored(Program.parse(source).with_values(values or {}).source, by)

    async def _asked(self, key: str, best: Modelled) -> Modelled:
        """The language model's, where it is better than the best so far; nothing is lost where it does not answer."""
        latest = best
        for n in range(1, CALLS + 1):
            if best.worth >= GOOD:
                break
            name = f"{key}.world{n}"
            told = latest if latest.score["failure"] and latest.source else best
            try:
                text = await self._answer(name, told)
            except (ProviderError, BudgetSpentError):
                break
            answer = answers.extract(text, class_name="World")
            if answer.problem:
                break
            latest = await self._fitted(answer.source, name)
            best = max(best, latest, key=lambda one: one.worth)
        return best

    async def _answer(self, name: str, told: Modelled) -> str:
        """Ask for a model, or for a better one than what is told."""
        spec, known = self._spec, self.experience.fitting
        system = prompting.render("world_system", **prompting.task_of(spec))
        question = prompting.render(
            "world",
            rows=shown.in_a_row(known),
            rare=shown.rare(known),
            coverage=shown.coverage(known, self.spaces[0]),
            source=told.source.strip(),
            score=in_words(told.score),
            mismatches=told.mismatches,
        )
        completion = await self._spender.ask(name, "world", [Message("user", question)], system=system)
        return completion.text
