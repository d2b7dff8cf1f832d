"""Evaluation: which programs are rolled out, recognised as known, or dropped early."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from gymnasium import spaces

from promptpo.core.candidate import Attempt, Candidate, RolloutResult
from promptpo.core.config import Config
from promptpo.core.evaluate import Measurer, _hopeless
from promptpo.core.feature import SearchContext
from promptpo.core.history import History
from promptpo.core.journal import Journal
from promptpo.envs.task import Task
from promptpo.errors import BudgetSpentError
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo_sandbox import Rollout


def early(*returns: float, success: bool | None = None) -> Evaluation:
    """The first episodes of a candidate."""
    episodes = tuple(EpisodeRecord(seed, value, 10, success) for seed, value in enumerate(returns))
    return Evaluation("ok", episodes, 10 * len(returns))


@pytest.mark.parametrize(
    ("first", "bar", "hopeless"),
    [
        (early(1.0, 9.9), (10.0, 50.0), True),
        (early(1.0, 10.0), (10.0, 50.0), False),
        (early(1.0, 30.0), (10.0, 50.0), False),
        (early(9.0, 9.5, success=False), (10.0,), True),
        (early(9.0, 9.5, success=True), (10.0,), False),
    ],
)
def test_hopeless_is_what_has_no_episode_as_good_as_the_worst_of_the_best(
    first: Evaluation, bar: tuple[float, ...], hopeless: bool
) -> None:
    """And no success."""
    assert _hopeless(first, bar) is hopeless


PLAYED = early(5.0, 6.0)


class Playing:
    """Work that plays nothing and remembers what it was asked for, each thing once."""

    def __init__(self, directory: Path, *, fails: int = 0) -> None:
        self.journal, self.fails = Journal(directory), fails
        self.asked: list[tuple[str, int]] = []
        self.recorded: set[str] = set()
        self.dropped: set[str] = set()

    async def roll_out(self, kind: str, key: str, *_: Any, early: Any, **__: Any) -> RolloutResult:
        """Return an evaluation, once as many as are to fail have failed."""
        if key in self.recorded:
            return RolloutResult(PLAYED, None)
        self.asked.append((key, early[0] if early else 0))
        await asyncio.sleep(0)
        if len(self.asked) <= self.fails:
            raise BudgetSpentError("no steps")
        self.recorded.add(key)
        return RolloutResult(PLAYED, Rollout((), None, 0, "", 0.0))

    def drop_trajectories(self, key: str) -> None:
        """Remember that they are told."""
        self.dropped.add(key)


def measurer(work: Playing, recipe: Any = "default") -> Measurer:
    """What measures with it, in a task of vectors."""
    spec: Any = SimpleNamespace(observation_space=spaces.Box(0, 1, (2,)))
    config = Config(Task("CartPole-v1"), recipe=recipe)
    return Measurer(SearchContext(spec, config, cast("Any", work), 10))


def test_the_same_program_is_rolled_out_once(tmp_path: Path) -> None:
    """Samples of one round share a rollout; later ones are duplicates of the first, whoever they are a duplicate of."""
    work = Playing(tmp_path)
    measures, one = measurer(work), Candidate("r1c1", "x = 1\n", 1)
    other = replace(one, id="r1c2", source="x  =  1\n")

    async def both() -> list[Attempt]:
        history = History()
        return list(await asyncio.gather(*(measures.measure(each, history) for each in (one, other))))

    first, second = asyncio.run(both())
    name = f"{first.candidate.digest}.r1"
    assert (work.asked, work.dropped) == ([(name, 0)], {name})
    assert first.evaluation == second.evaluation == PLAYED
    known = History(
        [replace(first, feedback="well", candidate=replace(first.candidate, duplicate_of="r0c1"))]
    )
    later = asyncio.run(measures.measure(replace(one, id="r2c1", round=2), known, prose="the same"))
    assert (later.candidate.duplicate_of, later.feedback, later.prose) == ("r0c1", "well", "the same")
    assert asyncio.run(measures.measure(one, History([first]))).candidate.duplicate_of == "r1c1"
    assert len(work.asked) == 1


def test_the_published_procedure_plays_every_candidate(tmp_path: Path) -> None:
    """And every repair of it, under its id, whole."""
    work = Playing(tmp_path)
    measures, one = measurer(work, "paper"), Candidate("r1c1", "x = 1\n", 1)
    first = asyncio.run(measures.measure(one, History()))
    again = asyncio.run(measures.measure(replace(one, id="r1c2", repairs=1), History([first])))
    assert again.candidate.duplicate_of is None
    assert work.asked == [("r1c1.0", 0), ("r1c2.1", 0)]


def test_only_what_is_new_races_against_the_best(tmp_path: Path) -> None:
    """Three episodes come first where there is a best; what was tuned has been chosen by more, and plays all."""
    work = Playing(tmp_path)
    measures, best = measurer(work), Attempt(Candidate("r1c1", "x = 1\n", 1, "a"), early(9.0, 9.5))
    new = Candidate("r2c1", "x = 2\n", 2)
    asyncio.run(measures.measure(new, History([best])))
    asyncio.run(measures.measure(replace(new, source="x = 3\n", tuned={"x": (2.0, 3.0)}), History([best])))
    assert [first for _, first in work.asked] == [3, 0]


def test_an_answer_without_a_program_is_rejected(tmp_path: Path) -> None:
    """Nothing is rolled out, and why is a sentence."""
    work = Playing(tmp_path)
    found = asyncio.run(measurer(work).measure(Candidate("r1c1", "", 1), History(), problem="empty"))
    assert (found.evaluation.outcome, found.evaluation.error) == ("rejected", "the answer was empty.")
    assert work.asked == []


def test_a_rollout_that_was_cut_short_is_played_again(tmp_path: Path) -> None:
    """Whoever still wants it asks anew."""
    work = Playing(tmp_path, fails=1)
    measures, one = measurer(work), Candidate("r1c1", "x = 1\n", 1)

    async def twice() -> Attempt:
        with pytest.raises(BudgetSpentError):
            await measures.measure(one, History())
        await asyncio.sleep(0)
        return await measures.measure(one, History())

    assert asyncio.run(twice()).evaluation == PLAYED
    assert len(work.asked) == 2
