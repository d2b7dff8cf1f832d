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

MAX_EXCESS, ROUNDING = 1.02, 1e-10
"""Held-out error of a formula, relative to the least one, up to which it is long enough; the same relative to the variance, since
smaller errors are due to rounding."""

NEGLIGIBLE = 1e-6
"""Weight of a term of unit size, relative to the target's size, below which it is dropped."""

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
    """

    terms: tuple[Term, ...]
    weights: tuple[float, ...]

    def __call__(self, numbers: Floats) -> Floats:
        """Return its value for each row of numbers."""
        values = [
            weight * product(numbers, term) for term, weight in zip(self.terms, self.weights, strict=True)
        ]
        return np.asarray(np.sum([np.zeros(len(numbers)), *values], axis=0))

    def code(self, names: Sequence[str]) -> str:
        """Return the formula as a Python expression."""
        parts = [
            " * ".join([f"{weight:.7g}", *(names[i] for i in term)])
            for term, weight in zip(self.terms, self.weights, strict=True)
        ]
        return " + ".join(parts).replace("+ -", "- ") or "0.0"


def product(numbers: Floats, term: Term) -> Floats:
    """Return the value of a product for each row."""
    return np.asarray(numbers[:, list(term)].prod(axis=1))


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
        useful = size > 1e-18  # noqa: PLR2004 - not always 0
        self.terms = [term for term, use in zip(terms, useful, strict=True) if use]
        self._size, self._values = size[useful], values[:, useful] / size[useful]
        self._ease = np.array([1.0 / (1 + len(term)) for term in self.terms])
        self._held = (np.arange(len(numbers)) // BLOCK) % 4 == 3  # noqa: PLR2004

    def fit(self, target: Floats, rows: Any = None) -> SparseFormula:
        """Fit a formula by orthogonal matching pursuit, as long as is best on held-out blocks, then to all rows.

        Args:
            target: One number for each row.
            rows: Mask of the rows to use; all by default.
        """
        rows = np.ones(len(target), bool) if rows is None else rows
        held, used = self._held & rows, ~self._held & rows
        if not held.any() or not used.any():
            held = used = rows
        values, wanted, truth = self._values[used], target[used], target[held]
        chosen, residual, errors = [0], wanted - wanted.mean(), [float(np.mean((truth - wanted.mean()) ** 2))]
        while len(chosen) < min(MAX_TERMS, len(wanted) // 8):
            gains = np.abs(values.T @ residual) * self._ease
            gains[chosen] = 0.0
            chosen.append(int(np.argmax(gains)))
            weights = np.linalg.lstsq(values[:, chosen], wanted, rcond=1e-10)[0]
            residual = wanted - values[:, chosen] @ weights
            errors.append(float(np.mean((truth - self._values[held][:, chosen] @ weights) ** 2)))
        enough = MAX_EXCESS * min(errors) + ROUNDING * errors[0]
        chosen = chosen[: 1 + next(n for n, error in enumerate(errors) if error <= enough)]
        weights = np.linalg.lstsq(self._values[rows][:, chosen], target[rows], rcond=1e-10)[0]
        least = NEGLIGIBLE * float(np.sqrt(np.mean(target[rows] ** 2)))
        pairs = zip(chosen, weights.tolist(), strict=True)
        kept = [(self.terms[i], weight / float(self._size[i])) for i, weight in pairs if abs(weight) > least]
        return SparseFormula(tuple(term for term, _ in kept), tuple(weight for _, weight in kept))
