"""What is left of a run when a round begins, and what is kept back of it."""

from types import SimpleNamespace
from typing import Any

import pytest

from promptpo.envs.task import Task
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.config import Budget, Config
from promptpo.run.records import Attempt, Candidate
from promptpo.search.history import History
from promptpo.search.outlook import for_tuning, outlook

CONFIG = Config(
    Task("CartPole-v1"),
    episodes=3,
    validation_episodes=8,
    candidates=3,
    budget=Budget(steps=50_000, rounds=4),
)


def attempt(id_: str, steps: int) -> Attempt:
    """A candidate with three episodes of so many steps."""
    played = tuple(EpisodeRecord(n, 1.0, steps) for n in range(3))
    return Attempt(Candidate(id_, "pass", int(id_[1]), digest=id_), Evaluation("ok", played, 3 * steps))


def spender(left: int) -> Any:
    """With so many steps left, and a journal that has nothing in it."""
    journal = SimpleNamespace(find=lambda *_: None, add=lambda *_: None, of_kind=lambda _: ())
    return SimpleNamespace(
        ledger=SimpleNamespace(steps_left=lambda: left, calls=0),
        llm=SimpleNamespace(language_model=True),
        journal=journal,
    )


@pytest.mark.parametrize(("left", "asked"), [(1_300, 3), (900, 1), (300, 1)])
def test_a_first_look_at_fresh_episodes_is_kept_back(left: int, asked: int) -> None:
    """For the leader and another, two of a hundred steps each: who is played and never looked at was paid for in vain."""
    where = outlook(
        History([attempt("r1c1", 100)], rounds=1), spender(left), CONFIG, horizon=500, threshold=None
    )
    assert where.candidates == asked


def test_a_round_after_programs_that_never_ran_is_told_too() -> None:
    """Nothing is known of how long episodes last then."""
    failed = Attempt(Candidate("r1c1", "pass", 1, digest="r1c1"), Evaluation("crashed", (), 0))
    where = outlook(History([failed], rounds=1), spender(45_000), CONFIG, horizon=500, threshold=None)
    assert where.length == 500


def test_what_lasts_as_long_as_the_best_is_kept_back_from_tuning() -> None:
    """New programs that fall early are no measure of what later ones take, nor of the last looks."""
    tuned = []
    for length in (20, 500):
        best, new = attempt("r1c1", length), attempt("r2c1", 20)
        history = History([best, new], rounds=1, leader_id="r1c1")
        tuned.append(for_tuning(history, [new], spender(80_000), CONFIG, 500, rounds=3))
    assert tuned[1] < tuned[0]
