"""What distinguishes one searched program from another, as one line that its docstring carries."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MARKER = re.compile(
    r"^Structure: (?P<structure>[a-z_]+)(?: with (?P<terms>[a-z_, ]+))?(?: \(variant (?P<variant>\d+)\))?$",
    re.MULTILINE,
)

TERMS = ("rates", "sums", "products", "ordered")
"""Additions to a structure: rates of change, leaky sums over time, products of features, and taking
discrete actions as an ordered scale."""


@dataclass(frozen=True, slots=True)
class Genome:
    """A structure and what was added to it.

    Attributes:
        structure: Name of a template.
        terms: Additions, a sorted subset of `TERMS`.
        variant: Chooses between random picks of the same structure, such as which features it reads.
    """

    structure: str
    terms: tuple[str, ...] = ()
    variant: int = 0

    def __str__(self) -> str:
        terms = f" with {', '.join(self.terms)}" if self.terms else ""
        variant = f" (variant {self.variant})" if self.variant else ""
        return f"{self.structure}{terms}{variant}"


def read_genome(source: str) -> Genome | None:
    """The genome that a program's docstring names; None for programs that search did not write."""
    found = _MARKER.search(source)
    if found is None:
        return None
    terms = tuple(term for term in (found["terms"] or "").split(", ") if term)
    if any(term not in TERMS for term in terms):
        return None
    return Genome(found["structure"], terms, int(found["variant"] or 0))
