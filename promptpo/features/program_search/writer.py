"""Pieces of a program that templates request, and the parameters that these pieces declare."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptpo.program.tunables import round_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptpo.features.program_search.features import Features
    from promptpo.program.tunables import Range

MOST_WEIGHTS = 160
"""Maximum number of numbers read by all weighted sums; wider observations are sampled by variant."""

NAMED = 8
"""Maximum number of numbers with variables of their own; more stay in a list."""


@dataclass(frozen=True, slots=True)
class Genome:
    """A structure and its variations.

    Attributes:
        structure: "linear" or "table".
        ordered: Whether it treats discrete actions as an ordered scale.
        variant: Selects among random choices of the structure, such as which features it reads.
    """

    structure: str
    ordered: bool = False
    variant: int = 0

    def __str__(self) -> str:
        return f"{self.structure}{' with ordered' * self.ordered}{f' (variant {self.variant})' * bool(self.variant)}"


class Writer:
    """Fills in a template and collects the parameters that it requests.

    Args:
        genome: The genome to write.
        features: How to read the observation.
        outputs: Number of scores.
        tuned: Ranges of the parameters to use; if empty, all parameters with the usual ranges.
    """

    def __init__(self, genome: Genome, features: Features, outputs: int, tuned: Mapping[str, Range]) -> None:
        self.features, self.outputs, self.tuned = features, outputs, tuned
        self.params: dict[str, tuple[float, ...]] = {}
        self.listed = len(features.names) > NAMED or not features.each
        chosen, most = [*range(len(features.names))], max(4, MOST_WEIGHTS // max(1, outputs))
        if len(chosen) > most:
            rng = random.Random(f"{genome.structure} {genome.variant}")  # noqa: S311 - no secret
            chosen = sorted(rng.sample(chosen, most))
        self.inputs = [(f"x[{i}]" if self.listed else features.names[i], features.names[i]) for i in chosen]

    def reads(self) -> list[str]:
        """Return the lines that read the observation."""
        if self.listed:
            return ["x = features(obs)"]
        return [
            f"{name} = {read}" for name, read in zip(self.features.names, self.features.each, strict=True)
        ]

    def terms(self, output: int, span: float, bias: float) -> list[str]:
        """Return the terms of a weighted sum and declare their parameters; the bias has that share of the weights' span."""
        first = f"out{output}_" if self.outputs > 1 else ""
        terms = {f"{first}bias": (bias * span, "")}
        terms |= {f"{first}{label}": (span, f" * {expression}") for expression, label in self.inputs}
        ranges = {name: self.tuned.get(name, (0.0, -most, most)) for name, (most, _) in terms.items()}
        kept = [name for name in terms if name in (self.tuned or terms)]
        self.params |= {name: tuple(map(round_value, ranges[name])) for name in kept}
        return [f'p["{name}"]{terms[name][1]}' for name in kept]
