"""Evaluation of candidates: rollouts, duplicates and early rejection."""

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


def first_episodes(*returns: float, success: bool | None = None) -> Evaluation:
    """The first episodes of a candidate."""
    episodes = tuple(EpisodeRecord(seed, value, 10, success) for seed, value in enumerate(returns))
    return Evaluation("ok", episodes, 10 * len(returns))


@pytest.mark.parametrize(
    ("first", "bar", "hopeless"),
    [
        (first_episodes(1.0, 9.9), (10.0, 50.0), True),
        (first_episodes(1.0, 10.0), (10.0, 50.0), False),
        (first_episodes(1.0, 30.0), (10.0, 50.0), False),
        (first_episodes(9.0, 9.5, success=False), (10.0,), True),
        (first_episodes(9.0, 9.5, success=True), (10.0,), False),
    ],
)
def test_candidate_is_hopeless_if_no_episode_reaches_the_leaders_worst(
    first: Evaluation, bar: tuple[float, ...], hopeless: bool
) -> None:
    """A single success prevents it."""
    assert _hopeless(first, bar) is hopeless


PLAYED = first_episodes(5.0, 6.0)


class FakeWork:
    """Work that returns fixed results and records requests, each key once."""

    def __init__(self, directory: Path, *, fails: int = 0) -> None:
        self.journal, self.fails = Journal(directory), fails
        self.requested: list[tuple[str, int]] = []
        self.recorded: set[str] = set()
        self.dropped: set[str] = set()

    async def roll_out(self, kind: str, key: str, *_: Any, early: Any, **__: Any) -> RolloutResult:
        """Return the evaluation, after `fails` failures."""
        if key in self.recorded:
            return RolloutResult(PLAYED, None)
        self.requested.append((key, early[0] if early else 0))
        await asyncio.sleep(0)
        if len(self.requested) <= self.fails:
            raise BudgetSpentError("no steps")
        self.recorded.add(key)
        return RolloutResult(PLAYED, Rollout((), None, 0, "", 0.0))

    def drop_trajectories(self, key: str) -> None:
        """Remember the key."""
        self.dropped.add(key)


def make_measurer(work: FakeWork, recipe: Any = "default") -> Measurer:
    """Return a measurer for a task with vector observations."""
    spec: Any = SimpleNamespace(observation_space=spaces.Box(0, 1, (2,)))
    config = Config(Task("CartPole-v1"), recipe=recipe)
    return Measurer(SearchContext(spec, config, cast("Any", work), 10))


def test_duplicate_programs_are_rolled_out_once(tmp_path: Path) -> None:
    """Samples of one round share a rollout; later ones refer to the original, also through a duplicate."""
    work = FakeWork(tmp_path)
    measures, one = make_measurer(work), Candidate("r1c1", "x = 1\n", 1)
    other = replace(one, id="r1c2", source="x  =  1\n")

    async def both() -> list[Attempt]:
        history = History()
        return list(await asyncio.gather(*(measures.measure(each, history) for each in (one, other))))

    first, second = asyncio.run(both())
    name = f"{first.candidate.digest}.r1"
    assert (work.requested, work.dropped) == ([(name, 0)], {name})
    assert first.evaluation == second.evaluation == PLAYED
    known = History(
        [replace(first, feedback="well", candidate=replace(first.candidate, duplicate_of="r0c1"))]
    )
    later = asyncio.run(measures.measure(replace(one, id="r2c1", round=2), known, prose="the same"))
    assert (later.candidate.duplicate_of, later.feedback, later.prose) == ("r0c1", "well", "the same")
    assert asyncio.run(measures.measure(one, History([first]))).candidate.duplicate_of == "r1c1"
    assert len(work.requested) == 1


def test_paper_recipe_evaluates_every_candidate_fully(tmp_path: Path) -> None:
    """It evaluates repairs and duplicates, too."""
    work = FakeWork(tmp_path)
    measures, one = make_measurer(work, "paper"), Candidate("r1c1", "x = 1\n", 1)
    first = asyncio.run(measures.measure(one, History()))
    again = asyncio.run(measures.measure(replace(one, id="r1c2", repairs=1), History([first])))
    assert again.candidate.duplicate_of is None
    assert work.requested == [("r1c1.0", 0), ("r1c2.1", 0)]


def test_only_new_programs_race_against_the_leader(tmp_path: Path) -> None:
    """Tuned programs have already been selected on more episodes."""
    work = FakeWork(tmp_path)
    measures, best = (
        make_measurer(work),
        Attempt(Candidate("r1c1", "x = 1\n", 1, "a"), first_episodes(9.0, 9.5)),
    )
    new = Candidate("r2c1", "x = 2\n", 2)
    asyncio.run(measures.measure(new, History([best])))
    asyncio.run(measures.measure(replace(new, source="x = 3\n", tuned={"x": (2.0, 3.0)}), History([best])))
    assert [first for _, first in work.requested] == [3, 0]


def test_answer_without_a_program_is_rejected(tmp_path: Path) -> None:
    work = FakeWork(tmp_path)
    found = asyncio.run(make_measurer(work).measure(Candidate("r1c1", "", 1), History(), problem="empty"))
    assert (found.evaluation.outcome, found.evaluation.error) == ("rejected", "the answer was empty.")
    assert work.requested == []


def test_failed_rollout_is_retried(tmp_path: Path) -> None:
    """A failure must not be cached for later samples."""
    work = FakeWork(tmp_path, fails=1)
    measures, one = make_measurer(work), Candidate("r1c1", "x = 1\n", 1)

    async def twice() -> Attempt:
        with pytest.raises(BudgetSpentError):
            await measures.measure(one, History())
        await asyncio.sleep(0)
        return await measures.measure(one, History())

    assert asyncio.run(twice()).evaluation == PLAYED
    assert len(work.requested) == 2
