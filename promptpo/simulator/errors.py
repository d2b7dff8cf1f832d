"""A simulator's prediction errors by coordinate, situation and number of steps ahead."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from promptpo.simulator.data import Windows, clip_edges
from promptpo_sandbox.simulators import Array

ALL = "all"
SITUATIONS = (ALL, "first steps", "sudden change", "near a limit", "clipped")
"""Situations for which errors are listed; a sudden change suggests an impact, a limit is an end of a coordinate's range."""

SUDDEN_SHARE = 0.1
"""Share of the windows, by largest change within one step, that count as sudden."""

EDGE_SHARE = 0.03
"""Share of a coordinate's range at either end that counts as near a limit."""

MIN_COUNT = 5
"""Minimum number of windows in a row."""


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """Errors of one coordinate in one situation.

    Attributes:
        coordinate: ``obs[3]``, ``reward`` (summed over the steps) or ``terminated``.
        situation: One of `SITUATIONS`.
        ahead: Number of steps ahead.
        rmse: Root mean square error; for integers and endings, the share of wrong predictions.
        scale: Root mean square of the change to predict, since the beginning of the window.
        count: Number of windows.
    """

    coordinate: str
    situation: str
    ahead: int
    rmse: float
    scale: float
    count: int

    @property
    def explained(self) -> float:
        """Share of the change that is explained, as a fraction; negative if predictions are worse than no change."""
        if self.scale <= 0:
            return 1.0 if self.rmse < 1e-6 else -math.inf  # noqa: PLR2004
        return 1.0 - (self.rmse / self.scale) ** 2


@dataclass(frozen=True, slots=True)
class ErrorTable:
    """The errors of a simulator's predictions."""

    rows: tuple[ErrorRow, ...]

    def explained_share(self, ahead: int) -> float:
        """Return the mean explained share over coordinates, with negative ones as 0; NaN if there are none."""
        shares = [
            max(0.0, row.explained)
            for row in self.rows
            if row.situation == ALL and row.ahead == ahead and row.coordinate != "terminated"
        ]
        return float(np.mean(shares)) if shares else math.nan

    def as_text(self, labels: Sequence[str]) -> str:
        """Format a table of explained shares, with a line for each coordinate.

        Args:
            labels: Names of the coordinates of an observation.
        """
        aheads = sorted({row.ahead for row in self.rows})
        columns = [(ahead, ALL) for ahead in aheads] + [(min(aheads, default=1), s) for s in SITUATIONS[1:]]
        by = {(row.coordinate, row.ahead, row.situation): row for row in self.rows}
        head = [f"{a} step{'s' * (a > 1)} ahead" if s == ALL else f"{s} ({a} ahead)" for a, s in columns]
        named = {f"obs[{i}]": label for i, label in enumerate(labels)}
        lines = [
            (
                named.get(coordinate, coordinate),
                "".join(f" | {_cell(by.get((coordinate, *c)))}" for c in columns),
            )
            for coordinate in dict.fromkeys(row.coordinate for row in self.rows)
        ]
        title = "share of the change explained; in brackets RMS error / RMS change"
        return "\n".join([title, " | ".join(["coordinate", *head]), *merge_alike(lines)])


def merge_alike(lines: Iterable[tuple[str, str]]) -> list[str]:
    """Join labels and texts into lines, merging neighbours without a name, such as ``obs[3]``, that have the same text."""
    merged = []
    for (_, text), alike in groupby(lines, key=lambda line: (line[0].endswith("]") or line[0], line[1])):
        first, *others = [label for label, _ in alike]
        merged.append(f"{first}{f' to {others[-1]}' if others else ''}{text}")
    return merged


def _cell(row: ErrorRow | None) -> str:
    if row is None:
        return "-"
    return f"{max(row.explained, -99):.3f} ({row.rmse:.2g}/{row.scale:.2g})"


def tabulate(windows: Windows, ahead: Sequence[int], obs: Array, rewards: Array, ended: Array) -> ErrorTable:
    """Return the errors of predictions.

    Args:
        windows: W windows of real steps.
        ahead: K numbers of steps ahead.
        obs: Predicted observations, of shape (K, W, …).
        rewards: Predicted sums of rewards, of shape (K, W).
        ended: Predicted endings, of shape (K, W).
    """
    count, rows = len(windows), list[ErrorRow]()
    starts, whole = windows.starts.reshape(count, -1).astype(float), windows.starts.dtype.kind in "biu"
    situations = _situations(windows)
    for k, steps in enumerate(ahead):
        known, over = windows.valid[steps - 1], windows.ended[steps - 1]
        seen = windows.seen[steps - 1].reshape(count, -1).astype(float)
        error, change = obs[k].reshape(count, -1) - seen, seen - starts
        if whole:
            error, change = (np.rint(error) != 0).astype(float), (change != 0).astype(float)
        valid = known & (over == (ended[k] > 0.5))  # noqa: PLR2004
        for i in range(starts.shape[1]):
            for name, mask in situations.items():
                rows += _row(f"obs[{i}]", name, steps, (error[:, i], change[:, i]), valid & mask[:, i])
        returns = windows.rewards[:steps].sum(axis=0)
        rows += _row("reward", ALL, steps, (rewards[k] - returns, returns - returns[known].mean()), known)
        rows += _row("terminated", ALL, steps, (np.abs(ended[k] - over), over.astype(float)), known)
    return ErrorTable(tuple(rows))


def _row(
    coordinate: str, situation: str, ahead: int, values: tuple[Array, Array], mask: Array
) -> list[ErrorRow]:
    error, change = (value[mask] for value in values)
    if len(error) < MIN_COUNT:
        return []
    rmse, scale = (float(np.sqrt((value**2).mean())) for value in (error, change))
    return [ErrorRow(coordinate, situation, ahead, rmse, scale, len(error))]


def _situations(windows: Windows) -> dict[str, Array]:
    """Map each situation to an array of shape (W, D): whether a window is in it for a coordinate."""
    starts, after = (
        part.reshape(len(windows), -1).astype(float) for part in (windows.starts, windows.seen[0])
    )
    low, high = np.minimum(starts, after).min(axis=0), np.maximum(starts, after).max(axis=0)
    room, change = EDGE_SHARE * (high - low), np.abs(after - starts)
    sudden = (change >= np.quantile(change, 1 - SUDDEN_SHARE, axis=0)) & (change > 0)
    clipped = (after == clip_edges(after)[:, None]).any(axis=0)
    edge = ((after <= low + room) | (after >= high - room)) & ~clipped
    first = np.broadcast_to(windows.first[:, None], starts.shape)
    return dict(zip(SITUATIONS, (np.ones_like(clipped), first, sudden, edge, clipped), strict=True))
