"""The final choice of a tuning: finalists in pairs, until the order is clear or not worth a step."""

from collections.abc import Callable
from typing import Any

import pytest

from promptpo.program import Program
from promptpo.search.tuning import Start
from promptpo.search.tuning.batches import Finalist
from promptpo.search.tuning.choosing import FinalChoice
from promptpo.search.tuning.clock import Clock
from promptpo.search.tuning.cma_search import CmaSearch
from sandbox import Rollout, Trial
from tests.promptpo.search.tuning.conftest import _seeds, episode

PROGRAM = Program('PARAMS = {"a": (0.0, 0.0, 9.0)}\n')
LENGTH = 10


def chosen(return_of: Callable[[Trial], float], n: int, steps: int) -> tuple[float, int]:
    """Which of n values wins, and how many episodes that took."""
    clock = Clock(steps, LENGTH, 1)
    arm = CmaSearch(Start("r1c1", PROGRAM, -100.0), 0, _seeds)
    choice = FinalChoice([(arm, Finalist(PROGRAM, {"a": float(i)})) for i in range(n)], clock, _seeds)
    taken = 0
    while batches := choice.ask():
        episodes = [[episode(t, return_of(t), LENGTH) for t in batch.trials] for batch in batches]
        taken += sum(map(len, episodes))
        clock.spent += sum(map(len, episodes)) * LENGTH
        choice.tell(episodes)
    assert clock.spent <= steps
    return choice.result().program.params["a"][0], taken


def test_one_unlucky_start_does_not_decide() -> None:
    """With steps for four pairs of episodes the better one wins, though it loses on the first start."""
    first = _seeds(500_000, 1)[0]

    def unlucky(trial: Trial) -> float:
        return 5.0 * trial.params["a"] * (-1 if trial.seed == first else 1) + trial.seed % 7

    assert chosen(unlucky, 2, 8 * LENGTH)[0] == 1.0


def test_a_clear_order_takes_few_episodes() -> None:
    """What is far apart, and what is equal, is not looked at again; nor is who is in front alone."""
    assert chosen(lambda t: 100 * t.params["a"] + t.seed % 3, 2, 100_000) == (1.0, 40)
    assert chosen(lambda t: 7.0, 5, 100_000)[1] == 100
    assert chosen(lambda t: 7.0, 1, 100_000)[1] == 20


@pytest.mark.parametrize("steps", [40, 200, 2_000])
def test_the_steps_hold_and_somebody_wins(steps: int) -> None:
    """Whatever there is to spend, no more is spent, and the winner is one of the finalists."""

    def noise(trial: Trial) -> Any:
        return hash((trial.seed, trial.params["a"])) % 100

    winner, _ = chosen(noise, 5, steps)
    assert 0 <= winner < 5


def test_whole_episodes_are_not_taken_to_be_as_short_as_cut_ones() -> None:
    """After episodes of 130 steps nobody knows that a whole one ends before 1,000: the steps hold all the same."""
    clock = Clock(8_000, 1000, 1)
    arm = CmaSearch(Start("r1c1", PROGRAM, -100.0), 0, _seeds)
    short = tuple(episode(Trial(n, None, 130), 1.0, 130) for n in range(10))
    clock.add(Rollout(short, None, 1300, "", 0.0))
    choice = FinalChoice([(arm, Finalist(PROGRAM, {"a": float(i)})) for i in range(3)], clock, _seeds)
    while batches := choice.ask():
        episodes = [[episode(t, t.params["a"] + t.seed % 5, 1000) for t in b.trials] for b in batches]
        clock.spent += 1000 * sum(map(len, episodes))
        choice.tell(episodes)
    assert 0 < clock.spent <= 8_000
