"""What ends an episode, found in recorded steps: thresholds on single numbers, or a formula that changes sign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from promptpo.world.baseline.terms import Formula, candidates, product

Floats = np.ndarray[Any, np.dtype[np.float64]]

MOST_RULES = 6
COVERED = 0.95
"""Thresholds must explain such a share of the endings, or a formula is tried."""

STEPS, RIDGE = 30, 1e-4
"""Of Newton's method for the formula, and its regularisation."""


@dataclass(frozen=True, slots=True)
class EndingRule:
    """A threshold beyond which episodes end."""

    place: int
    above: bool
    level: float

    def code(self, names: Sequence[str]) -> str:
        """The condition as an expression."""
        return f"{names[self.place]} {'>' if self.above else '<'} {self.level:.9g}"

    def __call__(self, numbers: Floats) -> Any:
        """Whether it holds for each row."""
        column = numbers[:, self.place]
        return column > self.level if self.above else column < self.level


@dataclass(frozen=True, slots=True)
class Ending:
    """When an episode ends: where one of the rules holds, or a formula is above 0; never where there are none.

    Attributes:
        rules: The thresholds.
        formula: The formula, if there is one.
    """

    rules: tuple[EndingRule, ...] = ()
    formula: Formula | None = None

    def code(self, names: Sequence[str]) -> str:
        """The condition as an expression."""
        parts = [rule.code(names) for rule in self.rules]
        if self.formula is not None:
            parts.append(f"{self.formula.code(names)} > 0.0")
        return " or ".join(parts) or "False"


def find_ending(numbers: Floats, ended: Any) -> Ending:
    """What tells the steps that ended an episode from the others.

    Args:
        numbers: What was observed after each step, one row each.
        ended: Whether the step ended its episode.
    """
    if not ended.any():
        return Ending()
    rules, left = _rules(numbers, ended)
    if left.sum() <= (1 - COVERED) * ended.sum():
        return Ending(tuple(rules))
    formula = _formula(numbers, ended)
    if formula is not None:
        said = formula(numbers) > 0
        wrong = int((said != ended).sum())
        if wrong < int(left.sum()):
            return Ending((), formula)
    return Ending(tuple(rules))


def _rules(numbers: Floats, ended: Any) -> tuple[list[EndingRule], Any]:
    """Thresholds that no other step passes, each the one that explains most of the endings that are left."""
    rules: list[EndingRule] = []
    others, left = numbers[~ended], ended.copy()
    if not len(others):
        return [], left
    low, high = others.min(axis=0), others.max(axis=0)
    while left.any() and len(rules) < MOST_RULES:
        over, under = (numbers[left] > high).sum(axis=0), (numbers[left] < low).sum(axis=0)
        above = over.max() >= under.max()
        counts = over if above else under
        place = int(counts.argmax())
        if not counts[place]:
            break
        column = numbers[ended, place]
        level = (
            (high[place] + column[column > high[place]].min()) / 2
            if above
            else (low[place] + column[column < low[place]].max()) / 2
        )
        rules.append(EndingRule(place, bool(above), float(level)))
        left &= ~rules[-1](numbers)
    return rules, left


def _formula(numbers: Floats, ended: Any) -> Formula | None:
    """A logistic regression on products of two, as a formula that is above 0 where an ending is likelier."""
    terms = [term for term in candidates(numbers.shape[1]) if len(term) <= 2]  # noqa: PLR2004
    if len(terms) > 120:  # noqa: PLR2004
        terms = [term for term in terms if len(term) <= 1]
    values = np.stack([product(numbers, term) for term in terms], axis=1)
    size = np.sqrt(np.mean(values**2, axis=0)) + 1e-12
    values = values / size
    share = min(0.5, max(float(ended.mean()), 1e-6))
    emphasis = np.where(ended, min(20.0, (1 - share) / share), 1.0)  # endings are rare
    weights = np.zeros(len(terms))
    for _ in range(STEPS):
        guess = 1 / (1 + np.exp(-np.clip(values @ weights, -30, 30)))
        slope = values.T @ (emphasis * (guess - ended)) + RIDGE * weights
        curve = (values.T * (emphasis * np.maximum(guess * (1 - guess), 1e-6))) @ values
        step = np.linalg.solve(curve + RIDGE * np.eye(len(terms)), slope)
        weights = weights - step / max(1.0, float(np.abs(step).max()) / 10.0)
        if float(np.abs(step).max()) < 1e-6:  # noqa: PLR2004
            break
    if not np.isfinite(weights).all():
        return None
    return Formula(tuple(terms), tuple(float(w) for w in weights / size), 0.0)
