"""The budget left when a round begins, and the part kept back from it."""

from types import SimpleNamespace
from typing import Any

import pytest

from promptpo.core.candidate import Attempt, Candidate
from promptpo.core.config import Budget, Config
from promptpo.core.feature import SearchContext
from promptpo.core.history import History
from promptpo.core.sample import run_status
from promptpo.envs.task import Task
from promptpo.features.tuning.feature import tuning_budget
from promptpo.llm.scripted import ScriptedLLM
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation

CONFIG = Config(
    Task("CartPole-v1"),
    episodes=3,
    validation_episodes=8,
    candidates=3,
    budget=Budget(steps=50_000, rounds=4),
)


def attempt(id_: str, steps: int, value: float = 1.0) -> Attempt:
    """A candidate with three episodes of so many steps."""
    played = tuple(EpisodeRecord(n, value, steps) for n in range(3))
    return Attempt(Candidate(id_, "pass", int(id_[1]), digest=id_), Evaluation("ok", played, 3 * steps))


def context(left: int) -> SearchContext:
    """With so many steps left."""
    work: Any = SimpleNamespace(ledger=SimpleNamespace(steps_left=lambda: left, calls=0), llm=ScriptedLLM([]))
    spec: Any = SimpleNamespace(text="", reward_threshold=None)
    return SearchContext(spec, CONFIG, work, 500)


@pytest.mark.parametrize(("left", "asked"), [(1_300, 3), (900, 1), (300, 1)])
def test_a_first_look_at_fresh_episodes_is_kept_back(left: int, asked: int) -> None:
    """For the leader and another, two of a hundred steps each: who is played and never looked at was paid for in vain."""
    where = run_status(context(left), History([attempt("r1c1", 100)], rounds=1), [])
    assert where.candidates == asked


def test_a_round_after_programs_that_never_ran_is_told_too() -> None:
    """Nothing is known of how long episodes last then."""
    failed = Attempt(Candidate("r1c1", "pass", 1, digest="r1c1"), Evaluation("crashed", (), 0))
    where = run_status(context(45_000), History([failed], rounds=1), [])
    assert where.length == 500


def test_what_lasts_as_long_as_the_best_is_kept_back_from_tuning() -> None:
    """New programs that fall early are no measure of what later ones take, nor of the last looks."""
    tuned = []
    for length in (20, 500):
        best, new = attempt("r1c1", length, 2.0), attempt("r2c1", 20)
        history = History([best, new], rounds=1, leader_id="r1c1")
        tuned.append(tuning_budget(context(80_000), history, [new]))
    assert tuned[1] < tuned[0]
