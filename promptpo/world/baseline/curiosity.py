"""A reward for what was not seen yet: space cut into cells, of which those that were visited earn nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from promptpo.world.baseline.steps import Floats, Names, Steps, angle_of

CELLS, CELL_NUMBERS, MOST_CELLS = 12, 4, 3000
"""Cells along each number, numbers that tell places apart, and visited cells that a model remembers."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Where the recorded steps have been.

    Attributes:
        numbers: Expressions of the numbers that tell places apart.
        bounds: Of each.
        seen: The cells that were visited.
    """

    numbers: tuple[str, ...]
    bounds: tuple[tuple[float, float], ...]
    seen: frozenset[int]

    def code(self) -> list[str]:
        """Lines that reward what neither the data nor this episode has shown."""
        lines = ["cell = 0"]
        lines += [
            f"cell = {CELLS} * cell + min({CELLS - 1}, max(0, int(({text} - {low:.6g}) * {CELLS / (high - low):.6g})))"
            for text, (low, high) in zip(self.numbers, self.bounds, strict=True)
        ]
        return [*lines, "if cell not in self.visited:", "    reward = 1.0", "    self.visited.add(cell)"]


def cells_of(steps: Steps, names: Names, lowest: Floats, highest: Floats) -> Cells | None:
    """The cells that some steps have visited; None where nothing tells places apart.

    Args:
        steps: The recorded steps.
        names: What numbers are called.
        lowest: Of what a model predicts, for each number.
        highest: The same.
    """
    paired = {place for pair in names.angles for place in pair}
    columns: list[tuple[str, Floats, float, float]] = [
        (f"math.atan2(y{j}, y{i})", angle_of(steps.after, i, j), -np.pi, np.pi) for i, j in names.angles
    ]
    columns += [
        (f"y{i}", steps.after[:, i], float(lowest[i]), float(highest[i]))
        for i in range(len(names.seen))
        if i not in paired and highest[i] - lowest[i] > 1e-6  # noqa: PLR2004
    ]
    columns = columns[:CELL_NUMBERS]
    if not columns:
        return None
    cell = np.zeros(len(steps.after), np.int64)
    for _, values, low, high in columns:
        place = np.clip((values - low) / (high - low) * CELLS, 0, CELLS - 1)
        cell = cell * CELLS + place.astype(np.int64)
    found, counts = np.unique(cell, return_counts=True)
    most = found[np.argsort(-counts, kind="stable")][:MOST_CELLS]
    return Cells(
        tuple(c[0] for c in columns), tuple((c[2], c[3]) for c in columns), frozenset(map(int, most))
    )
