"""The pieces of a program that templates ask for, and the parameters that these pieces declare."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from promptpo.features.program_search.features import Features
    from promptpo.program.tunables import Range

MOST_WEIGHTS = 160
"""Weighted sums read at most so many numbers in all; wider observations are sampled by variant."""

NAMED = 8
"""Up to so many numbers become variables of their own; more stay in a list."""

LINE_CHARS = 96
INDENT = " " * 8


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


@dataclass(frozen=True, slots=True)
class Input:
    """A number that a program reads: its expression, and what parameters about it are called."""

    expression: str
    label: str


class Writer:
    """Fills in a template and remembers the parameters that it asks for.

    Args:
        genome: What is written.
        features: How the observation is read.
        outputs: Number of scores.
        only: The weights that sums have; all where it is empty.
    """

    def __init__(
        self, genome: Genome, features: Features, outputs: int, only: frozenset[str] = frozenset()
    ) -> None:
        self.genome, self.features = genome, features
        self.params: dict[str, Range] = {}
        self._rng = random.Random(f"{genome.structure} {genome.variant}")  # noqa: S311 - no secret
        names = features.names
        self._listed = len(names) > NAMED or "rates" in genome.terms
        self.numbers = [Input(f"x[{i}]" if self._listed else n, n) for i, n in enumerate(names)]
        self.inputs = self._inputs(max(4, MOST_WEIGHTS // max(1, outputs)))
        self.only = only

    def _inputs(self, room: int) -> list[Input]:
        chosen = list(range(len(self.numbers)))
        most = max(1, room // (1 + ("rates" in self.genome.terms)))
        if len(chosen) > most:
            chosen = sorted(self._rng.sample(chosen, most))
        numbers = [self.numbers[i] for i in chosen]
        extra: list[Input] = []
        if "rates" in self.genome.terms:
            extra += [Input(f"rate[{i}]", f"rate_{self.numbers[i].label}") for i in chosen]
        return [*numbers, *extra]

    def read(self) -> str:
        """Lines that read the observation."""
        if not self._listed:
            names = self.features.names
            return (
                f"{names[0]}, = features(obs)" if len(names) == 1 else f"{', '.join(names)} = features(obs)"
            )
        lines = ["x = features(obs)"]
        if "rates" in self.genome.terms:
            lines.append("rate = [now - before for now, before in zip(x, self.before or x)]")
            lines.append("self.before = x")
        return f"\n{INDENT}".join(lines)

    def memory(self) -> str:
        """Lines that set up what is remembered inside an episode."""
        return f"{INDENT}self.before = None\n" if "rates" in self.genome.terms else ""

    def param(self, name: str, value: float, low: float, high: float) -> str:
        """The expression for a parameter, which is thereby declared."""
        self.params[name] = (value, low, high)
        return f'p["{name}"]'

    def write_weighted_sum(
        self,
        target: str,
        name: str,
        inputs: Iterable[Input],
        span: float,
        deeper: int = 0,
        *,
        bias: float = 1.0,
    ) -> str:
        """Lines that assign a weighted sum with a bias to a variable; the bias has that share of the weights' span."""
        terms = [self.param(name, 0.0, -bias * span, bias * span)]
        terms += [
            f"{self.param(f'{name}_{i.label}', 0.0, -span, span)} * {i.expression}"
            for i in inputs
            if not self.only or f"{name}_{i.label}" in self.only
        ]
        return sum_lines(target, terms, INDENT + "    " * deeper)


def sum_lines(target: str, terms: Sequence[str], indent: str) -> str:
    """``target = a + b`` and ``target += c + d``, with as many terms on a line as fit."""
    lines, line = [], f"{target} = {terms[0]}"
    for term in terms[1:]:
        if len(indent) + len(line) + len(term) + 3 > LINE_CHARS:
            lines.append(line)
            line = f"{target} += {term}"
        else:
            line += f" + {term}"
    return f"\n{indent}".join([*lines, line])
