"""Recorded steps beside what a model predicts of them: how far off each prediction is, as rows to be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.world.numbers import quantities, rows
from promptpo.world.shown import step_as_row

if TYPE_CHECKING:
    import gymnasium

    from promptpo_sandbox import Predictions, Recorded

Floats = np.ndarray[Any, np.dtype[np.float64]]

CLOSE = 1e-3
"""Predictions of rewards within this share of their size are exact."""

TOLD, OF_EPISODE = 6, 2
"""Steps that are told, and of one episode, at most."""

TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Transitions:
    """The steps of some episodes one after another, N in all.

    Attributes:
        episodes: Whose.
        before: N rows, what was observed before each step.
        after: N rows, what was observed after it.
        at: N, the number of the step in its episode.
        owner: N, the number of the episode.
        rewards: N.
        ends: N, whether the step ended its episode.
        discrete: For each column of the rows, whether being near is no use.
    """

    episodes: Sequence[Recorded]
    before: Floats
    after: Floats
    at: Any
    owner: Any
    rewards: Floats
    ends: Any
    discrete: Any

    @classmethod
    def of(cls, episodes: Sequence[Recorded], space: gymnasium.Space[Any]) -> Transitions:
        """The steps of at least one episode; its observations are a list of numbers."""
        seen = [rows(episode.observations) for episode in episodes]
        lengths = [len(episode) for episode in episodes]
        ends = np.zeros(sum(lengths), bool)
        ends[np.cumsum(lengths) - 1] = [episode.terminated for episode in episodes]
        return cls(
            episodes,
            np.concatenate([one[:-1] for one in seen]),
            np.concatenate([one[1:] for one in seen]),
            np.concatenate([np.arange(length) for length in lengths]),
            np.repeat(np.arange(len(lengths)), lengths),
            np.concatenate([episode.rewards for episode in episodes]),
            ends,
            np.array([quantity.discrete for quantity in quantities(space) or ()]),
        )

    def off(self, guess: Floats, found: Predictions) -> Floats:
        """How far off each prediction is: in usual changes, in usual differences of rewards, and 3 for an ending.

        Args:
            guess: The predicted observations as rows.
            found: The predictions.
        """
        size = np.where(self.discrete, 1.0, np.std(self.after - self.before, axis=0) + TINY)
        error = np.minimum(np.abs(guess - self.after) / size, 100.0).mean(axis=1)
        error += np.minimum(np.abs(found.rewards - self.rewards) / (np.std(self.rewards) + CLOSE), 100.0)
        total: Floats = error + 3.0 * (found.terminated != self.ends)
        return total


def worst(steps: Transitions, guess: Floats, found: Predictions) -> tuple[str, ...]:
    """The steps that are predicted worst one step ahead as rows, a few of each episode.

    Args:
        steps: What happened.
        guess: The predicted observations as rows.
        found: The predictions.
    """
    error = steps.off(guess, found)
    told: list[str] = []
    taken: Counter[int] = Counter()
    for place in np.argsort(-error, kind="stable"):
        owner = int(steps.owner[place])
        if error[place] < CLOSE or len(told) == TOLD:
            break
        taken[owner] += 1
        if taken[owner] <= OF_EPISODE:
            numbers = ", ".join(f"{value:.5g}" for value in guess[place][:24])
            ended = ", ended" if found.terminated[place] else ""
            row = step_as_row(steps.episodes[owner], int(steps.at[place]))
            told.append(f"{row}; predicted [{numbers}], reward {found.rewards[place]:.5g}{ended}")
    return tuple(told)
