"""Real episodes that are played for what a world model can learn from them, and notes on what came of it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from promptpo.program import Program
from promptpo.run.records import Seeds
from promptpo.run.spender import Subject
from promptpo.search.references import MARKS, random_policy

if TYPE_CHECKING:
    from promptpo.run.evidence import Evidence
    from promptpo.run.spender import Spender
    from promptpo.search.modelling import Modeller

FIRST_STEPS, FIRST_EPISODES, MOST_EPISODES, MOST_FIRST = 600, 2, 60, 4
"""Random episodes come in batches, the first of two where none is known, until there are so many steps or so many batches."""

FEWEST_EPISODES = 2
"""Of one there is nothing to hold a model against."""

RANDOM = MARKS[0]

PROBE_START = 700_000
"""These episodes use training seeds from here on."""


class PaidSteps:
    """Plays episodes for the models of a run; their steps count as `probe`.

    Args:
        spender: Rolls out.
        modeller: Learns from what was played.
        horizon: Longest episode, in steps.
        seeds: Of the run.

    Attributes:
        horizon: Longest episode, in steps.
        chance: Mean return of random actions; NaN before anybody looked around.
        luckiest: The most that a policy which knows nothing earned in any episode.
        marks: Mean returns of such policies, by name, where they were measured.
    """

    def __init__(self, spender: Spender, modeller: Modeller, horizon: int, seeds: Seeds) -> None:
        self._spender, self._modeller, self.horizon, self._seeds = spender, modeller, horizon, seeds
        self._spaces, self._journal = modeller.spaces, spender.journal
        self.chance = self.luckiest = math.nan
        self.marks: dict[str, float] = {}

    def note(self, n: int, text: str, of: str = "w") -> None:
        """Say in the journal what a study, or ("r", "s") what using the model in a round, came to."""
        if self._journal.find("note", f"{of}{n}") is None:
            self._journal.add("note", f"{of}{n}", text)

    async def play(
        self, key: str, source: str, seeds: Sequence[int], horizon: int | None = None
    ) -> list[float]:
        """Returns of real episodes whose steps are learnt from."""
        subject = Subject(source, Program.parse(source).values, "")
        played = await self._spender.roll_out(
            "probe", key, subject, seeds, horizon=horizon or self.horizon, record=True
        )
        self._modeller.take(key, played.rollout)
        self._spender.told(key)
        evaluation = played.evaluation
        return list(evaluation.returns) if evaluation.outcome == "ok" else [-math.inf]

    async def look_around(self, marks: Mapping[str, Evidence] | None = None) -> None:
        """Random episodes: the first steps that anything can be learnt from.

        Args:
            marks: What policies that know nothing earned, where that was measured; else one batch in any case says it.
        """
        known = marks or {}
        self.marks = {name: evidence.mean_return for name, evidence in known.items()}
        chance = self.marks.get(RANDOM)
        experience, returns = self._modeller.experience, list[float]()
        for n in range(MOST_FIRST):
            lacking = FIRST_STEPS - experience.steps
            seen = experience.episodes
            enough = seen >= FEWEST_EPISODES and chance is not None
            if lacking <= 0 and (n or enough):
                break
            count = FIRST_EPISODES
            if seen and (n or chance is not None):
                count = min(MOST_EPISODES, max(1, math.ceil(lacking * seen / experience.steps)))
            seeds = self._seeds.train(count, start=PROBE_START + 1000 * n)
            returns += await self.play(f"w0.look{n + 1}", random_policy(self._spaces[1]), seeds)
        finite = [one for one in returns if math.isfinite(one)]
        self.luckiest = max([*finite, *(one for mark in known.values() for one in mark.returns)], default=0.0)
        self.chance = chance if chance is not None else statistics.fmean(finite) if finite else 0.0

    @property
    def nothing(self) -> float:
        """The most that is earned by policies that know nothing: at random, or with zeros throughout."""
        return max([self.chance, *self.marks.values()])
