"""How well a world model predicts what nobody has shown it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.world.data import some_of
from promptpo.world.mismatches import CLOSE, TINY, Transitions, worst
from promptpo.world.numbers import quantities, rows
from promptpo_sandbox import Replay

if TYPE_CHECKING:
    import gymnasium

    from promptpo.rollouts import Executor
    from promptpo.world.numbers import Quantity
    from promptpo_sandbox import Predictions, Recorded

HORIZONS = (1, 5, 25)
"""Steps ahead at which predictions are judged."""

MOST_STEPS, MOST_VALUES = 10_000, 500_000
"""Transitions that a score is taken from, and observed numbers in them, about."""

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
        reward: Explained variance of rewards one step ahead, or the share of exact ones where they never change.
        endings: Share of endings that were foreseen one step ahead; None where none happened.
        false_endings: Share of the other steps that were predicted to end the episode.
        transitions: How many steps were predicted.
        worth: One number from 0 to 1 that all of these make.
        mismatches: The worst steps, as rows.
        failure: Why it predicted nothing; empty where it did.
    """

    skills: tuple[Skill, ...] = ()
    reward: float = 0.0
    endings: float | None = None
    false_endings: float = 0.0
    transitions: int = 0
    worth: float = 0.0
    mismatches: tuple[str, ...] = ()
    failure: str = ""

    @property
    def usable(self) -> bool:
        """Whether the model may be tuned in or planned with."""
        return not self.failure and self.worth >= USABLE


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
    known = quantities(spaces[0])
    chosen = some_of(episodes, min(MOST_STEPS, MOST_VALUES // len(known or [1])))
    if known is None or not chosen:
        why = "there is nothing to hold it against" if known else "the observation is no list of numbers"
        return Score(failure=why)
    predicted: dict[int, Predictions] = {}
    for every in HORIZONS:
        predicted[every] = await executor.replay(Replay(source, params, chosen, every, 0, *spaces))
        failure = predicted[every].failure
        if failure is not None:
            return Score(failure=failure.message)
    steps, one = Transitions.of(chosen, spaces[0]), predicted[1]
    guesses = {every: rows(found.observations) for every, found in predicted.items()}
    skills = _skills(known, steps, guesses)
    reward = _explained(one.rewards, steps.rewards, np.full_like(steps.rewards, steps.rewards.mean()))
    endings = float(one.terminated[steps.ends].mean()) if steps.ends.any() else None
    false = float(one.terminated[~steps.ends].mean()) if not steps.ends.all() else 0.0
    return Score(
        skills,
        reward,
        endings,
        false,
        len(steps.at),
        _worth(skills, reward, endings, false),
        worst(steps, guesses[1], one),
    )


def _skills(known: Sequence[Quantity], steps: Transitions, guesses: Mapping[int, Any]) -> tuple[Skill, ...]:
    """How well each quantity is predicted at each horizon."""
    ahead: list[dict[int, float]] = [{} for _ in known]
    for horizon, guess in guesses.items():
        picked = np.flatnonzero(steps.at % horizon == horizon - 1)
        if len(picked) < FEWEST:
            continue
        start = steps.before[picked - (horizon - 1)]
        for i, quantity in enumerate(known):
            said, truth = guess[picked, i], steps.after[picked, i]
            exact = quantity.discrete
            ahead[i][horizon] = (
                float(np.mean(said == truth)) if exact else _explained(said, truth, start[:, i])
            )
    return tuple(Skill(one.name, one.discrete, shares) for one, shares in zip(known, ahead, strict=True))


def _explained(guess: Any, truth: Any, plain: Any) -> float:
    """One minus the squared error over that of a plain guess; where the plain guess is right, the share of exact ones."""
    scale = max(float(np.mean(np.abs(truth))), TINY)
    base = float(np.mean((truth - plain) ** 2))
    if base <= (1e-6 * scale) ** 2:
        return float(np.mean(np.abs(guess - truth) <= CLOSE * scale))
    return float(1.0 - np.mean((guess - truth) ** 2) / base)


def _worth(skills: Sequence[Skill], reward: float, endings: float | None, false_endings: float) -> float:
    """One number: how well the next observation, the reward and the ending are known, as a product of shares."""
    each = [[max(0.0, min(1.0, share)) for share in skill.ahead.values()] for skill in skills]
    moves = statistics.fmean(statistics.fmean(shares) if shares else 0.0 for shares in each)
    foreseen = 1.0 if endings is None else 0.5 + 0.5 * endings
    earned = 0.5 + 0.5 * max(0.0, min(1.0, reward))
    return moves * earned * foreseen * max(0.0, 1.0 - 10.0 * false_endings)
