"""Fit sparse formulas: sums of products of a few numbers, chosen by orthogonal matching pursuit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]

MAX_CANDIDATES = 500
"""Maximum number of candidate products."""

MAX_TERMS = 40
MAX_TERM_DEPTH = 4
MIN_GAIN_SHARE = 1e-3
"""Relative reduction of the error below which a product is not needed."""

MAX_STALLED_TERMS = 4
MAX_UNEXPLAINED_RATIO = 0.7
"""Products of more factors are used if they leave less than this share of the variance that simpler ones leave."""

NEGLIGIBLE_VARIANCE_SHARE = 1e-7
"""Unexplained share of the variance below which a formula is good enough."""

NOTHING, NEGLIGIBLE = 1e-9, 1e-6
EXACT = 1e-10
"""Unexplained share of the variance that is due to rounding."""

BLOCK = 10
"""Consecutive steps that form a block; every fourth block is held out to choose the length of a formula."""

Term = tuple[int, ...]
"""Indices of the factors of a product; () is the constant 1."""


@dataclass(frozen=True, slots=True)
class SparseFormula:
    """A sum of weighted products.

    Attributes:
        terms: The products.
        weights: The weight of each.
        explained: Explained share of the variance on held-out rows.
    """

    terms: tuple[Term, ...]
    weights: tuple[float, ...]
    explained: float

    def __call__(self, numbers: Floats) -> Floats:
        """Return its value for each row of numbers."""
        total = np.zeros(len(numbers))
        for term, weight in zip(self.terms, self.weights, strict=True):
            total = total + weight * product(numbers, term)
        return total

    def code(self, names: Sequence[str]) -> str:
        """Return the formula as a Python expression."""
        parts = [
            " * ".join([f"{weight:.7g}", *(names[i] for i in term)])
            for term, weight in zip(self.terms, self.weights, strict=True)
        ]
        return " + ".join(parts).replace("+ -", "- ") or "0.0"


def product(numbers: Floats, term: Term) -> Floats:
    """Return the value of a product for each row."""
    value = np.ones(len(numbers))
    for place in term:
        value = value * numbers[:, place]
    return value


def candidates(count: int, switches: Sequence[int]) -> list[Term]:
    """Return the candidate products of `count` numbers, the constant first.

    Args:
        count: The number of numbers.
        switches: Indices of mutually exclusive binary numbers, which multiply others but not each other.
    """
    degree = max((d for d in range(1, MAX_TERM_DEPTH + 1) if comb(count + d, d) <= MAX_CANDIDATES), default=1)
    found: list[Term] = [()]
    for d in range(1, degree + 1):
        found += [
            term
            for term in combinations_with_replacement(range(count), d)
            if sum(place in switches for place in term) <= 1
        ]
    return found


class TermLibrary:
    """The values of products, computed once for several formulas.

    Args:
        numbers: Rows of numbers.
        terms: The products.
    """

    def __init__(self, numbers: Floats, terms: Sequence[Term]) -> None:
        values = np.stack([product(numbers, term) for term in terms], axis=1)
        size = np.sqrt(np.mean(values**2, axis=0))
        useful = size > NOTHING**2
        self.terms = [term for term, use in zip(terms, useful, strict=True) if use]
        self._size, self._values = size[useful], values[:, useful] / size[useful]
        chosen = (np.arange(len(numbers)) // BLOCK) % 4 == 3  # noqa: PLR2004
        self._judged = chosen if chosen.any() and not chosen.all() else np.zeros(len(numbers), bool)

    def fit(self, target: Floats, rows: Any = None) -> SparseFormula:
        """Fit a formula to a target, with products of as few factors as suffice.

        Args:
            target: One number for each row.
            rows: Mask of the rows to use; all by default.
        """
        rows = np.ones(len(target), bool) if rows is None else rows
        best: SparseFormula | None = None
        for degree in range(1, 1 + max(map(len, self.terms))):
            places = np.array([i for i, term in enumerate(self.terms) if len(term) <= degree])
            found = self._pursue(target, rows, places)
            left = 1.0 - found.explained
            if best is None or left < MAX_UNEXPLAINED_RATIO * (1.0 - best.explained):
                best = found
            if 1.0 - best.explained < NEGLIGIBLE_VARIANCE_SHARE:
                break
        assert best is not None  # noqa: S101 - the loop runs at least once
        return best

    def _pursue(self, target: Floats, rows: Any, places: Any) -> SparseFormula:
        """Add candidate products one by one while they help (orthogonal matching pursuit)."""
        judged, used = self._judged & rows, ~self._judged & rows
        table = self._values[:, places]
        if not judged.any() or not used.any():
            judged = used = rows
        values, wanted, checked, truth = table[used], target[used], table[judged], target[judged]
        variance = max(float(np.var(truth)), float(np.var(wanted)), 1e-300)
        chosen: list[int] = [0]
        residual = wanted - wanted.mean()
        best = (float(np.mean((truth - wanted.mean()) ** 2)), [0])
        stalled = 0
        while len(chosen) < min(MAX_TERMS, len(wanted) // 8) and best[0] > EXACT * variance:
            gains = np.abs(values.T @ residual)
            gains[chosen] = 0.0
            place = int(np.argmax(gains))
            if gains[place] <= NOTHING * len(wanted) ** 0.5 * float(np.linalg.norm(wanted)):
                break
            chosen.append(place)
            weights = np.linalg.lstsq(values[:, chosen], wanted, rcond=1e-10)[0]
            residual = wanted - values[:, chosen] @ weights
            error = float(np.mean((truth - checked[:, chosen] @ weights) ** 2))
            stalled += 1
            if error < (1 - MIN_GAIN_SHARE) * best[0]:
                best, stalled = (error, list(chosen)), 0
            elif stalled >= MAX_STALLED_TERMS:
                break
        return self._refit(target, rows, [int(places[place]) for place in best[1]], 1.0 - best[0] / variance)

    def _refit(self, target: Floats, rows: Any, chosen: Sequence[int], explained: float) -> SparseFormula:
        """Fit the chosen products to all used rows, and drop negligible ones."""
        weights = np.linalg.lstsq(self._values[rows][:, list(chosen)], target[rows], rcond=1e-10)[0]
        size = float(np.sqrt(np.mean(target[rows] ** 2)))
        kept = [
            (self.terms[place], float(weight / self._size[place]))
            for place, weight in zip(chosen, weights, strict=True)
            if abs(weight) > NEGLIGIBLE * size
        ]
        return SparseFormula(tuple(t for t, _ in kept), tuple(w for _, w in kept), explained)
