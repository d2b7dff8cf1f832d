"""What a language model is told when it is asked for a world model."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from promptpo.telling import prompting
from promptpo.world.mismatches import Transitions, worst
from promptpo.world.shown import coverage, in_a_row, rare
from promptpo_sandbox import Predictions, Recorded


def episode(rewards: list[float], *, terminated: bool) -> Recorded:
    """Counts its steps."""
    seen = np.arange(len(rewards) + 1, dtype=float)[:, None]
    return Recorded(seen, np.zeros(len(rewards), np.int64), np.array(rewards), terminated)


PRIZE = episode([-1.0] * 50 + [20.0] + [-1.0] * 49, terminated=True)


def test_what_happens_rarely_is_shown() -> None:
    """Endings and the steps that earned most of each episode stand apart."""
    assert rare([PRIZE, episode([-1.0] * 9, terminated=False)]) == [
        "step 99: obs [99.], action 0 -> obs [100.], reward -1, ended",
        "step 50: obs [50.], action 0 -> obs [51.], reward 20",
        "step 0: obs [0.], action 0 -> obs [1.], reward -1",
    ]
    assert len(in_a_row([PRIZE])) == 14


def test_what_the_data_cover_is_told() -> None:
    """How many steps there are, and the ranges of actions and observations."""
    assert coverage([PRIZE], spaces.Box(-9, 999, (1,))) == [
        "100 steps in 1 episode, of which 1 ended before a time limit",
        "actions: 0 .. 0",
        "seen: obs[0] 0 .. 100",
    ]


def test_the_worst_predictions_are_told_beside_the_truth() -> None:
    """A missed ending comes before small errors, and a right prediction is not told."""
    steps = Transitions.of([PRIZE], spaces.Box(-9, 999, (1,)))
    guess = steps.after.copy()
    guess[7] += 1.0
    found = Predictions(guess, PRIZE.rewards, np.zeros(100, bool))
    told = worst(steps, guess, found)
    assert told[1].startswith("step 99:") or told[0].startswith("step 99:")
    assert len(told) == 2
    text = prompting.render(
        "world", rows=in_a_row([PRIZE]), rare=rare([PRIZE]), coverage=[], source="class World: ...",
        score=["worth 0.5"], mismatches=told,
    )  # fmt: skip
    assert "predicted [9], reward -1" in text
    assert "class World: ..." in text
