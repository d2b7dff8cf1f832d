"""Recorded steps beside what a model predicts of them: how far off each prediction is, as rows to be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.world.numbers import quantities, rows
from promptpo.world.shown import seldom, step_in_short

if TYPE_CHECKING:
    import gymnasium

    from sandbox import Predictions, Recorded

Floats = np.ndarray[Any, np.dtype[np.float64]]

CLOSE = 1e-3
"""Predictions of rewards within this share of their size are exact."""

DEPARTS = 0.5
"""A prediction that is off by so many usual changes on average, or as much in reward, departs from what happens."""

LED = 2
"""Steps that led to one that was predicted badly, which are told with it: what is hidden shows there."""

TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One step that was predicted badly.

    Attributes:
        step: Of its episode.
        obs: What the model was shown, or had predicted before.
        action: What was done.
        predicted: Observation, reward, terminated.
        real: The same.
        before: The steps that led to it, as rows; without them where the model predicts from its own observations.
    """

    step: int
    obs: str
    action: str
    predicted: tuple[str, float, bool]
    real: tuple[str, float, bool]
    before: tuple[str, ...] = ()


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
        seen = [rows(space, episode.observations) for episode in episodes]
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

    @property
    def sizes(self) -> Floats:
        """How much each number usually changes in a step; 1 for those that are discrete."""
        change: Floats = np.maximum(np.std(self.after - self.before, axis=0), TINY)
        return np.where(self.discrete, 1.0, change)

    def off(self, guess: Floats, found: Predictions, sizes: Floats | None = None) -> Floats:
        """How far off each prediction is: in usual changes, in usual differences of rewards, and 3 for an ending.

        Args:
            guess: The predicted observations as rows.
            found: The predictions.
            sizes: What counts as 1; the usual changes of these steps by default.
        """
        error = np.abs(guess - self.after) / (self.sizes if sizes is None else sizes)
        error = np.minimum(np.where(self.discrete, error > 0, error), 100.0).mean(axis=1)
        spread = max(float(np.std(self.rewards)), CLOSE * float(np.abs(self.rewards).max(initial=0)), TINY)
        error += np.minimum(np.abs(found.rewards - self.rewards) / spread, 100.0)
        total: Floats = error + 3.0 * (found.terminated != self.ends)
        return total

    def row(self, place: int, guess: Floats, found: Predictions, shown: Floats | None = None) -> Mismatch:
        """One step as a row.

        Args:
            place: Which, of all.
            guess: The predicted observations as rows.
            found: The predictions.
            shown: Where the model stood before it, if it was not put in step.
        """
        step = int(self.at[place])
        actions = self.episodes[int(self.owner[place])].actions
        return Mismatch(
            step,
            _row(self.before[place] if shown is None else shown),
            str(actions[step])[:200] if isinstance(actions, list) else _row(np.ravel(actions[step])),
            (_row(guess[place]), round(float(found.rewards[place]), 5), bool(found.terminated[place])),
            (_row(self.after[place]), round(float(self.rewards[place]), 5), bool(self.ends[place])),
            self._led_to(place) if shown is None else (),
        )

    def _led_to(self, place: int) -> tuple[str, ...]:
        """The steps before one in its episode, as rows."""
        one, step = self.episodes[int(self.owner[place])], int(self.at[place])
        return tuple(step_in_short(one, t) for t in range(max(0, step - LED), step))


def worst(steps: Transitions, guess: Floats, found: Predictions, most: int = 6) -> tuple[Mismatch, ...]:
    """The steps that are predicted worst one step ahead, of each episode no more than two.

    The worst of each kind of rare event comes first, however far off other steps are: an ending that is not foreseen, one
    that is foreseen wrongly, and a seldom reward that is not.
    """
    error = steps.off(guess, found)
    wrong = np.abs(found.rewards - steps.rewards) > CLOSE * max(
        float(np.abs(steps.rewards).max(initial=0)), TINY
    )
    kinds = (steps.ends & ~found.terminated, found.terminated & ~steps.ends, seldom(steps.rewards) & wrong)
    order = np.argsort(-error, kind="stable").tolist()
    first = [next((place for place in order if kind[place]), None) for kind in kinds]
    rows_: list[Mismatch] = []
    taken: dict[int, int] = {}
    for place in dict.fromkeys([*(place for place in first if place is not None), *order]):
        episode = int(steps.owner[place])
        if error[place] < CLOSE or len(rows_) == most:
            break
        if taken.get(episode, 0) < 2 or place in first:  # noqa: PLR2004
            taken[episode] = taken.get(episode, 0) + 1
            rows_.append(steps.row(int(place), guess, found))
    return tuple(rows_)


def departure(
    steps: Transitions, guess: Floats, found: Predictions, sizes: Floats, most: int = 3
) -> tuple[Mismatch, ...]:
    """The steps of one episode from where a model that is left to itself first departs from what happens.

    Where it never departs clearly, the step that is furthest off; none where every prediction is right.

    Args:
        steps: Of the episode.
        guess: The predicted observations as rows, from the model's own ones.
        found: The predictions.
        sizes: How much each number usually changes in a step.
        most: Rows.
    """
    error = steps.off(guess, found, sizes)
    away = np.flatnonzero(error > DEPARTS)
    first = int(away[0]) if len(away) else int(error.argmax())
    if error[first] < CLOSE:
        return ()
    places = range(first, min(first + most, len(error)))
    before = np.concatenate([steps.before[:1], guess[:-1]])
    return tuple(steps.row(place, guess, found, before[place]) for place in places)


def _row(values: Any) -> str:
    shown = ", ".join(f"{value:.5g}" for value in values[:24])
    return f"[{shown}{', …' if len(values) > 24 else ''}]"  # noqa: PLR2004
