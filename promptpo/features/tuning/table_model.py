"""A tabular model of a small task, learned from transitions, and planning in it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    Values = NDArray[np.float64]

SWEEPS = 1000
VALUE_TOLERANCE = 1e-4
"""Value iteration stops when no value changes by more than this share of the largest reward."""


@dataclass
class TableModel:
    """Transition counts of each action in each state.

    Attributes:
        actions: The actions, by index.
        discount: Discount factor for planning.
    """

    actions: Sequence[Any]
    discount: float
    index: dict[Hashable, int] = field(default_factory=dict)
    visits: Counter[tuple[int, int]] = field(default_factory=Counter)
    rewards: Counter[tuple[int, int]] = field(default_factory=Counter)
    nexts: dict[tuple[int, int], Counter[int]] = field(default_factory=dict)
    lowest: float = 0.0
    highest: float = 0.0

    END = -1
    """Successor of a terminating step."""

    def learn(self, state: Hashable, action: int, reward: float, after: Hashable | None) -> None:
        """Count one transition; `after` is None when the episode terminated."""
        if not math.isfinite(reward):
            return
        pair = (self._number(state), action)
        self.visits[pair] += 1
        self.rewards[pair] += reward  # type: ignore[assignment] # Counters add floats as well
        successor = self.END if after is None else self._number(after)
        self.nexts.setdefault(pair, Counter())[successor] += 1
        self.lowest, self.highest = min(self.lowest, reward), max(self.highest, reward)

    def deterministic(self) -> bool:
        """Whether every action seen twice in a state had the same successor each time."""
        return all(len(successors) == 1 for successors in self.nexts.values())

    def values(self, known: int, *, optimistic: bool) -> Values:
        """Compute action values by value iteration, shape (states, actions).

        Args:
            known: Number of visits from which an action's counts are trusted.
            optimistic: Value unknown actions above anything seen (R-max; Brafman and Tennenholtz, 2002), so that they are
                explored even before any reward; otherwise value them as the worst seen, and trust every visited action.
        """
        shape = (len(self.index), len(self.actions))
        span = self.highest - self.lowest
        bound = self.highest + (span or 1.0) if optimistic else min(0.0, self.lowest)
        unknown = bound / (1 - self.discount)
        q = np.full(shape, unknown if optimistic else -np.inf)
        pairs = [p for p, n in self.visits.items() if n >= (known if optimistic else 1)]
        if not pairs:
            return q
        states, actions = np.array(pairs).T
        counts = np.array([self.visits[p] for p in pairs], dtype=float)
        mean = np.array([float(self.rewards[p]) for p in pairs]) / counts
        flows = [
            (i, after, n / counts[i])  # index of the pair, successor, probability
            for i, p in enumerate(pairs)
            for after, n in self.nexts[p].items()
            if after != self.END
        ]
        table = np.array(flows, dtype=float).reshape(-1, 3)
        (source, target), share = table[:, :2].T.astype(int), table[:, 2]
        value = np.full(shape[0], unknown)
        scale = VALUE_TOLERANCE * max(1e-9, abs(self.highest), abs(self.lowest))
        for _ in range(SWEEPS):
            future = np.bincount(source, share * value[target], minlength=len(pairs))
            q[states, actions] = mean + self.discount * future
            best = q.max(axis=1)
            best[~np.isfinite(best)] = unknown
            moved = float(np.max(np.abs(best - value)))
            value = best
            if moved < scale:
                break
        return q

    def _number(self, state: Hashable) -> int:
        return self.index.setdefault(state, len(self.index))


def key_of(obs: Any) -> Hashable:
    """Return the table key of an observation: an int, or a flat tuple of ints for compound ones."""
    parts = _flat(obs)
    return (
        parts[0]
        if len(parts) == 1 and np.ndim(obs) == 0 and not isinstance(obs, dict | tuple)
        else tuple(parts)
    )


def _flat(obs: Any) -> list[int]:
    if isinstance(obs, dict):
        return [n for part in obs.values() for n in _flat(part)]
    if isinstance(obs, tuple | list):
        return [n for part in obs for n in _flat(part)]
    return [int(n) for n in np.ravel(obs)]
