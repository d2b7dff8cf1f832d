"""Where the environment has contradicted a world model: policies that earned less in it than the model promised.

A search gains by a model's errors. So what it promised is held against what was earned, the steps at which the
model departs from what happened are told to whoever writes policies and models, and a model that repeats a
promise that was not kept is not used.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from promptpo.run.disappointment import Disappointment
from promptpo.run.journal import from_json

if TYPE_CHECKING:
    from promptpo.run.journal import Journal
    from promptpo.search.dreaming import Dreamer
    from promptpo.search.modelling import Modelled, Modeller
    from promptpo.world.dreams import Dream

DISAPPOINTS = 0.25
"""A policy disappoints where it earns less than the model says by this share of what the model promises above chance."""

CLEAR = 2.0
"""Standard errors of what was earned by which it has to be less, where they are known."""

KEPT = 3
"""Lessons that a new model is held against, the latest."""


def disappoints(promised: float, earned: float, chance: float, error: float = 0.0) -> bool:
    """Whether a policy earned clearly less than a model promised.

    Args:
        promised: Mean return in the model.
        earned: Mean return in the environment; NaN disappoints.
        chance: Mean return of random actions.
        error: Standard error of `earned`; NaN where it is not known.
    """
    room = DISAPPOINTS * max(abs(promised - chance), 1e-9)
    if math.isfinite(error):
        room = max(room, CLEAR * error)
    return not earned >= promised - room


class Lessons:
    """What a run has learnt of its models from policies that disappointed.

    Args:
        modeller: Keeps the recorded steps.
        dreamer: Lets policies act in models.
        journal: Of the run.
    """

    def __init__(self, modeller: Modeller, dreamer: Dreamer, journal: Journal) -> None:
        self._modeller, self._dreamer, self._journal = modeller, dreamer, journal
        self._learnt: list[tuple[Disappointment, str]] = []
        self._told = 0

    def untold(self) -> tuple[Disappointment, ...]:
        """The lessons that no writer of a model was told of yet, the latest; now they are."""
        found, self._told = self._learnt[self._told :], len(self._learnt)
        return tuple(lesson for lesson, _ in found[-KEPT:])

    async def learn(
        self, name: str, key: str, source: str, world: Modelled, promised: float, earned: float
    ) -> Disappointment:
        """Find out where a model departs from what a policy has met; once in a run.

        Args:
            name: Of the candidate, or of the study.
            key: Of its rollout in the journal.
            source: The policy.
            world: The model that promised.
            promised: Mean return in the model.
            earned: Mean return in the environment.
        """
        found = self._journal.find("disappointment", name)
        if found is None:
            rows = await self._modeller.departure(world, key)
            lesson = Disappointment(name, promised, earned, rows)
            self._journal.add("disappointment", name, lesson)
        else:
            lesson = from_json(Disappointment, found)
        self._learnt.append((lesson, source))
        return lesson

    def held(self, name: str, promised: float, earned: float, *, kept: bool) -> None:
        """Write down what came of a promise, once in a run.

        Args:
            name: Of the candidate, or of what would have been one.
            promised: Mean return in the model.
            earned: Mean return in the environment; not finite where it failed.
            kept: Whether it earned about as much.
        """
        if self._journal.find("promise", name) is None:
            real = earned if math.isfinite(earned) else None
            self._journal.add("promise", name, {"promised": promised, "earned": real, "kept": kept})

    async def broken(self, dream: Dream, chance: float) -> str:
        """Which promise a new model repeats although it was not kept, in words; empty where it has learnt.

        Raises:
            WorldFailedError: The model failed.
        """
        for lesson, source in self._learnt[-KEPT:]:
            promised = await self._dreamer.promise(dream, source)
            if math.isfinite(promised) and disappoints(promised, lesson.earned, chance):
                return (
                    f"the model still promises {promised:.4g} of {lesson.candidate}, which earned "
                    f"{lesson.earned:.4g}: it is not used"
                )
        return ""
