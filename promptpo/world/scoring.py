"""How well a world model predicts what nobody has shown it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.world.data import some_of
from promptpo.world.mismatches import CLOSE, TINY, Mismatch, Transitions, worst
from promptpo.world.numbers import quantities, rows
from promptpo.world.replaying import replayed
from sandbox import Failure

if TYPE_CHECKING:
    import gymnasium

    from promptpo.rollouts import Executor
    from promptpo.world.numbers import Quantity
    from sandbox import Predictions, Recorded

HORIZONS = (1, 5, 25)
"""Steps ahead at which predictions are judged."""

MOST_STEPS = 10_000
"""Transitions that a score is taken from."""

FEWEST = 10
"""Fewer predictions than these say nothing about a horizon."""

USABLE = 0.6
"""A model that is worth less is not used."""


@dataclass(frozen=True, slots=True)
class Skill:
    """How well one quantity is predicted.

    Attributes:
        name: Which.
        discrete: Whether the shares below are of exact predictions; they are explained variance otherwise: 1 for
            a perfect prediction, 0 for one that is as good as saying that nothing changes, below 0 for worse.
        ahead: Horizon in steps to share; without those for which there are too few predictions.
    """

    name: str
    discrete: bool
    ahead: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Score:
    """What a world model is worth on held-out episodes.

    Attributes:
        skills: Of the observed quantities.
        reward: Explained variance of rewards one step ahead, or the share of exact ones where they never change; of
            steps whose ending, or none, is foreseen.
        endings: Share of endings that were foreseen one step ahead; None where none happened.
        false_endings: Share of the other steps that were predicted to end the episode.
        calibration: Where its predictions vary: how far predictions lie from each other as a share of how far they
            lie from the truth; 1 is calibrated, less is too sure. None for a model without chance.
        transitions: How many steps were predicted.
        worth: One number from 0 to 1 that all of these make.
        mismatches: The worst steps.
        failure: Why it predicted nothing, if it did not.
        seconds: CPU time that scoring took of this process, without the sandbox.
    """

    skills: tuple[Skill, ...]
    reward: float
    endings: float | None
    false_endings: float
    calibration: float | None
    transitions: int
    worth: float
    mismatches: tuple[Mismatch, ...] = ()
    failure: Failure | None = None
    seconds: float = 0.0

    @property
    def usable(self) -> bool:
        """Whether the model may be tuned in, screened with or planned with."""
        return self.failure is None and self.worth >= USABLE


async def scored(
    executor: Executor,
    source: str,
    params: Mapping[str, float] | None,
    episodes: Sequence[Recorded],
    spaces: tuple[gymnasium.Space[Any], gymnasium.Space[Any]],
) -> Score:
    """Hold a world model against episodes.

    Args:
        executor: Where it runs.
        source: The module.
        params: Values of its ``PARAMS``; None where it declares none.
        episodes: The held-out ones.
        spaces: Of observations and actions.
    """
    seconds = 0.0
    known = quantities(spaces[0])
    chosen = some_of(episodes, MOST_STEPS)
    if known is None or not chosen:
        why = "there is nothing to hold it against" if known else "the observation is no list of numbers"
        return _failed(Failure("rejected", why))
    predicted: dict[tuple[int, int], Predictions] = {}
    for every, seed in (*((h, 0) for h in HORIZONS), (1, 1)):
        found = await replayed(executor, source, params, chosen, spaces, every=every, seed=seed)
        if found.failure is not None:
            return _failed(found.failure)
        predicted[every, seed] = found
    began = time.process_time()
    score = _Scoring(known, chosen, spaces[0], predicted).score()
    seconds += time.process_time() - began
    return _with_seconds(score, seconds)


def _failed(failure: Failure) -> Score:
    return Score((), 0.0, None, 0.0, None, 0, 0.0, failure=failure)


def _with_seconds(score: Score, seconds: float) -> Score:
    from dataclasses import replace

    return replace(score, seconds=round(seconds, 4))


class _Scoring:
    """The comparison of predictions with what happened.

    Args:
        known: The quantities.
        episodes: What happened.
        space: Of observations.
        predicted: (steps between two observations, seed) to predictions.
    """

    def __init__(
        self,
        known: Sequence[Quantity],
        episodes: Sequence[Recorded],
        space: gymnasium.Space[Any],
        predicted: Mapping[tuple[int, int], Predictions],
    ) -> None:
        self._known = known
        self._steps = steps = Transitions.of(episodes, space)
        self._before, self._after, self._at = steps.before, steps.after, steps.at
        self._rewards, self._ends, self._discrete = steps.rewards, steps.ends, steps.discrete
        self._predicted = predicted
        self._guesses = {key: rows(space, found.observations) for key, found in predicted.items()}

    def score(self) -> Score:
        """All of it."""
        skills = self._skills()
        one = self._predicted[1, 0]
        agreed = one.terminated == self._ends  # an ending that is not foreseen is counted as that alone
        if not agreed.any():
            agreed[:] = True
        earned = self._rewards[agreed]
        reward = _explained(one.rewards[agreed], earned, np.full_like(earned, earned.mean()))
        ended = int(self._ends.sum())
        endings = float(one.terminated[self._ends].mean()) if ended else None
        others = ~self._ends
        false = float(one.terminated[others].mean()) if others.any() else 0.0
        calibration = self._calibration()
        if calibration is None:
            worth = _worth(skills, reward, endings, false)
        else:
            worth = self._worth_by_chance(skills, calibration)
        return Score(
            skills,
            reward,
            endings,
            false,
            calibration,
            len(self._at),
            worth,
            worst(self._steps, self._guesses[1, 0], one),
        )

    def _skills(self) -> tuple[Skill, ...]:
        ahead: list[dict[int, float]] = [{} for _ in self._known]
        for horizon in HORIZONS:
            picked = np.flatnonzero(self._at % horizon == horizon - 1)
            if len(picked) < FEWEST:
                continue
            guess, truth = self._guesses[horizon, 0][picked], self._after[picked]
            start = self._before[picked - (horizon - 1)]
            for i, quantity in enumerate(self._known):
                if quantity.discrete:
                    ahead[i][horizon] = float(np.mean(guess[:, i] == truth[:, i]))
                else:
                    ahead[i][horizon] = _explained(guess[:, i], truth[:, i], start[:, i])
        return tuple(
            Skill(quantity.name, quantity.discrete, shares)
            for quantity, shares in zip(self._known, ahead, strict=True)
        )

    def _agreement(self) -> tuple[float, float]:
        """How often a whole prediction is the truth, and how often it is another prediction for the same step."""
        first, second = self._guesses[1, 0], self._guesses[1, 1]
        return (
            float(np.mean((first == self._after).all(axis=1))),
            float(np.mean((first == second).all(axis=1))),
        )

    def _worth_by_chance(self, skills: Sequence[Skill], calibration: float) -> float:
        """The worth of a model with chance in it, which cannot name outcomes.

        It is as good as any if what it says is the truth as often as it says the same twice, or lies as far from
        the truth as from itself; rewards and endings then have to be as frequent as they are.
        """
        one = self._predicted[1, 0]
        truth, twice = self._agreement()
        if self._discrete.all():
            moves = min(1.0, truth / max(twice, TINY))
        else:
            moves = max(min(1.0, calibration), statistics.fmean(map(_share, skills)))
        rates = _near(float(one.terminated.mean()), float(self._ends.mean()))
        earned = _near(float(one.rewards.mean()), float(self._rewards.mean()))
        return moves * _half(rates) * _half(earned)

    def _calibration(self) -> float | None:
        first, second = self._guesses[1, 0], self._guesses[1, 1]
        if (first == second).all():
            return None
        size = self._steps.sizes
        apart = _distance(first, second, self._discrete, size)
        off = _distance(first, self._after, self._discrete, size)
        return float(apart / max(off, TINY))


def _explained(guess: Any, truth: Any, plain: Any) -> float:
    """One minus the squared error over that of a plain guess; where the plain guess is right, the share of exact ones."""
    scale = max(float(np.mean(np.abs(truth))), TINY)
    base = float(np.mean((truth - plain) ** 2))
    if base <= (1e-6 * scale) ** 2:
        return float(np.mean(np.abs(guess - truth) <= CLOSE * scale))
    return float(1.0 - np.mean((guess - truth) ** 2) / base)


def _distance(one: Any, other: Any, discrete: Any, size: Any) -> float:
    apart = np.where(discrete, one != other, np.abs(one - other) / size)
    return float(np.mean(apart))


def _worth(skills: Sequence[Skill], reward: float, endings: float | None, false_endings: float) -> float:
    """One number: how well the next observation, the reward and the ending are known, as a product of shares."""
    moves = statistics.fmean(_share(skill) for skill in skills)
    foreseen = 1.0 if endings is None else 0.5 + 0.5 * endings
    return moves * _half(reward) * foreseen * max(0.0, 1.0 - 10.0 * false_endings)


def _half(share: float) -> float:
    """A share that is not all that counts."""
    return 0.5 + 0.5 * max(0.0, min(1.0, share))


def _near(one: float, other: float) -> float:
    """How near two rates are to each other, from 0 to 1."""
    most = max(abs(one), abs(other))
    return 1.0 if most < TINY else max(0.0, 1.0 - abs(one - other) / most)


def _share(skill: Skill) -> float:
    """The mean over the horizons, each between 0 and 1."""
    return (
        statistics.fmean(max(0.0, min(1.0, share)) for share in skill.ahead.values()) if skill.ahead else 0.0
    )
