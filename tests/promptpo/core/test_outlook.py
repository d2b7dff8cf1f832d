"""The budget at the beginning of a round, and the part reserved from it."""

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
    """A candidate with three episodes of `steps` steps."""
    played = tuple(EpisodeRecord(n, value, steps) for n in range(3))
    return Attempt(Candidate(id_, "pass", int(id_[1]), digest=id_), Evaluation("ok", played, 3 * steps))


def context_with(left: int) -> SearchContext:
    """A search context with `left` steps."""
    work: Any = SimpleNamespace(ledger=SimpleNamespace(steps_left=lambda: left, calls=0), llm=ScriptedLLM([]))
    spec: Any = SimpleNamespace(text="", reward_threshold=None)
    return SearchContext(spec, CONFIG, work, 500)


@pytest.mark.parametrize(("left", "asked"), [(1_300, 3), (900, 1), (300, 1)])
def test_steps_for_a_first_validation_are_reserved(left: int, asked: int) -> None:
    """Candidates that cannot be validated would be played in vain."""
    status = run_status(context_with(left), History([attempt("r1c1", 100)], rounds=1), [])
    assert status.candidates == asked


def test_length_is_the_horizon_if_nothing_ran() -> None:
    failed = Attempt(Candidate("r1c1", "pass", 1, digest="r1c1"), Evaluation("crashed", (), 0))
    status = run_status(context_with(45_000), History([failed], rounds=1), [])
    assert status.length == 500


def test_reserve_is_based_on_the_leaders_episode_length() -> None:
    """New programs that fail early are no measure for later rollouts."""
    tuned = []
    for length in (20, 500):
        best, new = attempt("r1c1", length, 2.0), attempt("r2c1", 20)
        history = History([best, new], rounds=1, leader_id="r1c1")
        tuned.append(tuning_budget(context_with(80_000), history, [new]))
    assert tuned[1] < tuned[0]
