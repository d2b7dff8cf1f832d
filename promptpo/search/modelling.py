"""The run's world model: written by program search and by the language model, whichever predicts better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from promptpo.envs.recorded_space import recorded
from promptpo.envs.spaces import form_of
from promptpo.errors import BudgetSpentError, ProviderError
from promptpo.llm.base import Message
from promptpo.program import Program, answers
from promptpo.run.untold import MOST_VALUES, values_in
from promptpo.telling import prompting
from promptpo.world import shown
from promptpo.world.baseline import write_world
from promptpo.world.data import Experience, Shelf, recorded_in, some_of
from promptpo.world.fitting import fitted
from promptpo.world.mismatches import Transitions, departure
from promptpo.world.numbers import quantities, rows
from promptpo.world.planners import MOST_MODELS
from promptpo.world.replaying import replayed, traced
from promptpo.world.scoring import scored
from promptpo.world.space_text import expression, plain, restored
from promptpo.world.words import as_data, in_words, mismatches_in_words

if TYPE_CHECKING:
    from promptpo.run.disappointment import Disappointment
    from promptpo.run.spender import Spender
    from promptpo.spec import TaskSpec
    from sandbox import Rollout

CALLS = 2
"""Answers that a language model is asked for each time the model is made anew, corrections included."""

NEAR = 0.8
"""Models that are worth this share of the best's are asked for a second opinion."""

GOOD = 0.99
"""A model that is worth so much is not asked to be improved."""

STARTS = 20
"""Observations to start from that are kept with a model."""

MOST_STEPS = 10_000
"""Transitions that say how much each number usually changes."""

MOST_SHOWN = 8000
"""Characters of a model that a request shows; a table of counts has tens of thousands."""


@dataclass(frozen=True, slots=True)
class Modelled:
    """A world model and what it is worth.

    Attributes:
        source: The module, with fitted numbers; empty where none could be written.
        score: What its held-out score says, as the journal keeps it.
        by: Journal key of the call that wrote it; empty for program search.
        mismatches: Its worst predictions in words.
        others: Modules of other models that are nearly as good, with fitted numbers.
    """

    source: str
    score: Mapping[str, Any]
    by: str = ""
    mismatches: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether it may be tuned in, screened with or planned with."""
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
        experience: What is known.
    """

    def __init__(self, spec: TaskSpec, spender: Spender, horizon: int) -> None:
        self._horizon = horizon
        self._spec, self._spender, self._journal = spec, spender, spender.journal
        self.spaces = (spec.observation_space, spec.action_space)
        self.experience = Experience(*self.spaces)
        self._shelf = Shelf(spender.journal.directory)
        self._written: Modelled | None = None
        self._members: list[Modelled] = []

    @property
    def possible(self) -> bool:
        """Whether observations are numbers that a model can be held against; pictures and texts are not."""
        return quantities(self.spaces[0]) is not None

    def take(self, key: str, rollout: Rollout | None) -> None:
        """Learn from a rollout; one that an earlier process of the run has made is on the shelf, if anywhere.

        Args:
            key: Its name in the journal.
            rollout: With trajectories; None where only its result is known.
        """
        if not self.possible:
            return
        if rollout is None:
            rollout = self._shelf.get(key)
        elif values_in(rollout) <= MOST_VALUES:
            self._shelf.put(key, rollout)
        if rollout is not None:
            self.experience.add([rollout])

    async def model(self, key: str, lessons: Sequence[Disappointment] = ()) -> Modelled:
        """The best model of what is known by now, made once in a run.

        Args:
            key: Its name in the journal.
            lessons: Where earlier models promised too much, for who writes the next.
        """
        found = self._journal.find("world", key)
        if found is not None:
            known = Modelled(
                found["source"], found["score"], found["by"], others=tuple(found.get("others", ()))
            )
            self._written = known if known.by else self._written
            return known
        best = await self._scored(write_world(*self.spaces, self.experience.fitting))
        self._members = [best]
        if self._written is not None:  # there are new steps to hold it against
            again = await self._scored(self._written.source, self._written.by)
            refitted = await self._fitted(self._written.source, self._written.by)
            self._members += [again, refitted]
            best = max(best, again, refitted, key=lambda one: one.worth)
        if self._spender.can("world"):
            best = await self._asked(key, best, lessons)
            best = replace(best, others=await self._others(best))
        executor, held_out = self._spender.executor, self.experience.held_out
        data = {
            "source": best.source,
            "score": best.score,
            "by": best.by,
            "others": best.others,
            "trace": await traced(executor, best.source, best.params, held_out, self.spaces),
            "steps": self.experience.steps,
            "horizon": self._horizon,
            "spaces": [recorded(space) for space in self.spaces],
            "written": [expression(space) for space in self.spaces],
            "start": restored(self.spaces[0], "start"),
            "starts": [plain(start) for start in self.experience.starts(STARTS)],
        }
        self._journal.add("world", key, data)
        self._written = best if best.by else self._written
        return best

    async def _others(self, best: Modelled) -> tuple[str, ...]:
        """Other models that are nearly as good as the best; one that saw half of the steps where there are none."""
        if not best.usable:
            return ()
        near = [one for one in self._members if one.usable and one.worth >= NEAR * best.worth]
        found = dict.fromkeys(one.source for one in sorted(near, key=lambda one: -one.worth))
        found.pop(best.source, None)
        if not found:
            half = await self._scored(write_world(*self.spaces, self.experience.fitting[::2]))
            if half.usable and half.source != best.source:
                found[half.source] = None
        return tuple(found)[: MOST_MODELS - 1]

    async def _scored(self, source: str, by: str = "") -> Modelled:
        executor, held_out = self._spender.executor, self.experience.held_out
        score = await scored(executor, source, Program.parse(source).values, held_out, self.spaces)
        return Modelled(source, as_data(score), by, tuple(mismatches_in_words(score.mismatches)))

    async def _asked(self, key: str, best: Modelled, lessons: Sequence[Disappointment]) -> Modelled:
        """The language model's, where it is better than the best so far; nothing is lost where it does not answer."""
        latest = best
        for n in range(1, CALLS + 1):
            if best.worth >= GOOD and not (lessons and n == 1):
                break
            name = f"{key}.world{n}"
            try:
                text = await self._answer(name, best, latest, lessons)
            except (ProviderError, BudgetSpentError):
                break
            answer = answers.extract(text, class_name="World", method="step")
            if answer.problem:
                break
            latest = await self._fitted(answer.source, name)
            self._members.append(latest)
            best = max(best, latest, key=lambda one: one.worth)
        return best

    async def _fitted(self, source: str, by: str) -> Modelled:
        values = await fitted(self._spender.executor, source, self.experience.fitting, self.spaces)
        return await self._scored(Program.parse(source).with_values(values or {}).source, by)

    async def _answer(
        self, name: str, best: Modelled, latest: Modelled, lessons: Sequence[Disappointment]
    ) -> str:
        """Ask for a model, or for a better one; the failure of the last answer goes with it."""
        spec = self._spec
        system = prompting.render(
            "world_system",
            spec=spec.text.strip(),
            observation_form=form_of(spec.observation_space),
            action_form=form_of(spec.action_space),
        )
        told = latest if latest.score["failure"] and latest.source else best
        known = self.experience.fitting
        question = prompting.render(
            "world",
            rows=shown.in_a_row(known),
            rare=shown.rare(known),
            sparse=shown.sparse(known, self.spaces[0]),
            coverage=shown.coverage(known, *self.spaces),
            source=_cut(told.source.strip()),
            score=in_words(told.score),
            mismatches=told.mismatches,
            lessons=lessons,
        )
        completion = await self._spender.ask(name, "world", [Message("user", question)], system=system)
        return completion.text

    def earned(self, key: str, steps: int) -> float | None:
        """The mean return of a rollout's episodes over their first steps; None where it was not kept.

        Args:
            key: Its name in the journal.
            steps: So many of each episode count.
        """
        rollout = self._shelf.get(key)
        episodes = () if rollout is None else recorded_in(rollout, *self.spaces)
        returns = [float(episode.rewards[:steps].sum()) for episode in episodes]
        return sum(returns) / len(returns) if returns else None

    async def departure(self, world: Modelled, key: str) -> tuple[str, ...]:
        """Where the worst episode of a rollout first departs from what a model makes of its actions, in words.

        Args:
            world: The model, left to itself from the first observation on; one with chance in it is put in step with
                every observation.
            key: The rollout's name in the journal; one that was not kept tells nothing.
        """
        rollout = self._shelf.get(key)
        episodes = () if rollout is None else recorded_in(rollout, *self.spaces)
        if not episodes:
            return ()
        worst = min(episodes, key=lambda episode: float(episode.rewards.sum()))
        every = len(worst) if world.score["calibration"] is None else 1
        executor, known = self._spender.executor, some_of(self.experience.fitting, MOST_STEPS)
        found = await replayed(executor, world.source, world.params, [worst], self.spaces, every=every)
        if found.failure is not None:
            return (f"the model failed on it: {found.failure.message}",)
        steps, guess = Transitions.of([worst], self.spaces[0]), rows(self.spaces[0], found.observations)
        usual = Transitions.of(known or [worst], self.spaces[0]).sizes
        return tuple(mismatches_in_words(departure(steps, guess, found, usual)))


def _cut(source: str) -> str:
    """A module with the middle left out where it is long, at whole lines."""
    if len(source) <= MOST_SHOWN:
        return source
    head = source[: MOST_SHOWN // 2].rpartition("\n")[0]
    tail = source[-MOST_SHOWN // 2 :].partition("\n")[2]
    left = source[len(head) : -len(tail)].strip().count("\n") + 1
    return f"{head}\n# ... {left} lines are left out here ...\n{tail}"
