"""Programs that imitate a teacher, fitted to what it saw and did: no model is asked, nothing is run here.

Observations are read as one row of numbers. Actions become targets: a column for each discrete action, or one for
each dimension. Weighted sums are fitted by least squares, and a decision tree by the splits that leave least
variance; whatever of it is a number stays tunable where it is a weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.program.tunables import rounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sandbox import Episode

    Numbers = NDArray[np.float64]

MOST_NUMBERS = 400
"""Longer observations, such as images, are not imitated."""

FEW_NUMBERS = 8
"""Up to so many numbers, their products are fitted too."""

ONE_HOT = 64
"""Categories up to which one becomes a column each."""

FEWEST_STEPS = 20
LEAVES, DEPTH, SMALLEST_LEAF, CUTS = 24, 6, 5, 16
RIDGE = 1e-3

HEAD = '''"""{about}

Distilled from a trained agent: fitted to {steps:,} of its steps.
"""

import numpy as np
'''


@dataclass(frozen=True, slots=True)
class _Reading:
    """How an observation becomes numbers: the same in the program and here."""

    parts: tuple[tuple[tuple[Any, ...], int], ...]

    @classmethod
    def of(cls, space: spaces.Space[Any]) -> _Reading:
        return cls(tuple(_paths(space, ())))

    def numbers(self, observation: Any) -> list[float]:
        """One row."""
        row: list[float] = []
        for path, categories in self.parts:
            value = observation
            for key in path:
                value = value[key]
            row += (
                [float(int(value) == i) for i in range(categories)]
                if categories
                else np.ravel(value).astype(float).tolist()
            )
        return row

    def source(self) -> str:
        """A function ``numbers(obs)`` that does the same."""
        lines = ["def numbers(obs):", '    """The observation as a row of numbers."""', "    row = []"]
        for path, categories in self.parts:
            value = "obs" + "".join(f"[{key!r}]" for key in path)
            lines.append(
                f"    row += [float(int({value}) == i) for i in range({categories})]"
                if categories
                else f"    row += np.ravel({value}).astype(float).tolist()"
            )
        return "\n".join([*lines, "    return np.array(row)"])


def _paths(space: spaces.Space[Any], path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], int]]:
    if isinstance(space, spaces.Dict):
        for key, sub in space.spaces.items():
            yield from _paths(sub, (*path, key))
    elif isinstance(space, spaces.Tuple):
        for n, sub in enumerate(space.spaces):
            yield from _paths(sub, (*path, n))
    elif isinstance(space, spaces.Discrete) and space.n <= ONE_HOT and space.start == 0:
        yield path, int(space.n)
    elif isinstance(space, spaces.Box | spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary):
        yield path, 0


@dataclass(frozen=True, slots=True)
class _Pairs:
    """What the teacher saw and did, as rows."""

    seen: Numbers
    targets: Numbers
    reading: _Reading
    act: str
    names: tuple[str, ...] = field(default=())


def distilled(
    episodes: Sequence[Episode], observation: spaces.Space[Any], action: spaces.Space[Any]
) -> list[str]:
    """Modules that imitate the teacher; none where its observations or actions are not of a suitable kind.

    Args:
        episodes: With their trajectories.
        observation: The observation space.
        action: The action space.
    """
    pairs = _pairs(episodes, observation, action)
    if pairs is None:
        return []
    programs = [_weighted(pairs, products=False), _tree(pairs)]
    if pairs.seen.shape[1] <= FEW_NUMBERS:
        programs.append(_weighted(pairs, products=True))
    return programs


def _pairs(
    episodes: Sequence[Episode], observation: spaces.Space[Any], action: spaces.Space[Any]
) -> _Pairs | None:
    reading = _Reading.of(observation)
    known = [episode.trajectory for episode in episodes if episode.trajectory is not None]
    actions = [done for trajectory in known for done in trajectory.actions]
    if len(actions) < FEWEST_STEPS or not isinstance(action, spaces.Box | spaces.Discrete):
        return None
    first = reading.numbers(known[0].observations[0])
    if not 0 < len(first) <= MOST_NUMBERS:
        return None
    seen = np.array([reading.numbers(obs) for each in known for obs in each.observations[:-1]])
    if isinstance(action, spaces.Discrete):
        chosen = np.array([int(done) for done in actions]) - int(action.start)
        targets = np.eye(int(action.n))[chosen]
        act = f"int(np.argmax(scores)){f' + {int(action.start)}' if action.start else ''}"
    else:
        targets = np.array([np.ravel(done) for done in actions], dtype=float)
        act = f"np.array(scores).reshape({tuple(action.shape)!r}).astype(np.{action.dtype})"
    if not (np.isfinite(seen).all() and np.isfinite(targets).all()):
        return None
    return _Pairs(seen, targets, reading, act)


def _weighted(pairs: _Pairs, *, products: bool) -> str:
    """Every score a weighted sum of the observation's numbers, of their products too where that is asked."""
    seen, targets = pairs.seen, pairs.targets
    middle, scale = seen.mean(axis=0), seen.std(axis=0)
    scale = np.where(scale > 1e-9, scale, 1.0)  # noqa: PLR2004 - what never changes has no scale
    rows = (seen - middle) / scale
    pairs_of = list(combinations_with_replacement(range(rows.shape[1]), 2)) if products else []
    if pairs_of:
        rows = np.hstack([rows, np.stack([rows[:, i] * rows[:, j] for i, j in pairs_of], axis=1)])
    rows = np.hstack([np.ones((len(rows), 1)), rows])
    weights = np.linalg.solve(rows.T @ rows + RIDGE * np.eye(rows.shape[1]), rows.T @ targets).T
    span = 0.5 * (np.ptp(targets, axis=0).max() or 1.0)
    params = [
        f'    "w{j}_{i}": ({rounded(w)}, {rounded(w - span)}, {rounded(w + span)}),'
        for j, row in enumerate(weights.tolist())
        for i, w in enumerate(row)
    ]
    about = "Every score is a weighted sum of the observation's numbers" + (
        " and their products." if products else "."
    )
    extra = f"\n        x = np.concatenate([x, [x[i] * x[j] for i, j in {pairs_of}]])" if pairs_of else ""
    outputs, inputs = weights.shape
    return (
        HEAD.format(about=about, steps=len(seen))
        + "\nPARAMS = {\n"
        + "\n".join(params)
        + "\n}\n"
        + f"\nMIDDLE = np.array({_listed(middle)})\nSCALE = np.array({_listed(scale)})\n\n\n"
        + pairs.reading.source()
        + f"""


class Policy:
    def __init__(self, params):
        self.weights = np.array([[params[f"w{{j}}_{{i}}"] for i in range({inputs})] for j in range({outputs})])

    def act(self, obs):
        x = (numbers(obs) - MIDDLE) / SCALE{extra}
        scores = self.weights @ np.concatenate([[1.0], x])
        return {pairs.act}
"""
    )


@dataclass(slots=True)
class _Branch:
    """A set of the teacher's steps, and the best way to split it."""

    rows: NDArray[np.int64]
    depth: int
    gain: float = 0.0
    on: int = 0
    at: float = 0.0
    branches: tuple[_Branch, _Branch] | None = None


def _tree(pairs: _Pairs) -> str:
    """A decision tree, grown where a split explains most of what the teacher does."""
    root = _looked(pairs, np.arange(len(pairs.seen)), 0)
    leaves = [root]
    while len(leaves) < LEAVES:
        best = max(leaves, key=lambda leaf: leaf.gain)
        if best.gain <= 0:
            break
        low = pairs.seen[best.rows, best.on] <= best.at
        best.branches = (
            _looked(pairs, best.rows[low], best.depth + 1),
            _looked(pairs, best.rows[~low], best.depth + 1),
        )
        leaves = [leaf for leaf in leaves if leaf is not best] + list(best.branches)
    body = "\n".join(_lines(root, pairs, "        "))
    return (
        HEAD.format(about="A decision tree over the observation's numbers.", steps=len(pairs.seen))
        + f"\n\n{pairs.reading.source()}\n\n\n"
        + f"class Policy:\n    def act(self, obs):\n        x = numbers(obs)\n{body}\n        return {pairs.act}\n"
    )


def _looked(pairs: _Pairs, rows: NDArray[np.int64], depth: int) -> _Branch:
    """A leaf with its best split: the one that leaves least variance of what the teacher did."""
    leaf = _Branch(rows, depth)
    targets = pairs.targets[rows]
    whole = _variation(targets)
    if depth >= DEPTH or len(rows) < 2 * SMALLEST_LEAF or whole <= 1e-9:  # noqa: PLR2004
        return leaf
    for column in range(pairs.seen.shape[1]):
        values = pairs.seen[rows, column]
        distinct = np.unique(values)
        if len(distinct) < 2:  # noqa: PLR2004
            continue
        middles = (distinct[1:] + distinct[:-1]) / 2
        places = np.unique(np.linspace(0, len(middles) - 1, CUTS).astype(int))
        for at in middles[places].tolist() if len(middles) > CUTS else middles.tolist():
            low = values <= at
            if min(low.sum(), (~low).sum()) < SMALLEST_LEAF:
                continue
            gain = whole - _variation(targets[low]) - _variation(targets[~low])
            if gain > leaf.gain + 1e-9:
                leaf.gain, leaf.on, leaf.at = gain, column, at
    return leaf


def _variation(targets: Numbers) -> float:
    return float(((targets - targets.mean(axis=0)) ** 2).sum())


def _lines(leaf: _Branch, pairs: _Pairs, indent: str) -> Iterator[str]:
    if leaf.branches is None:
        yield f"{indent}scores = {_listed(pairs.targets[leaf.rows].mean(axis=0))}"
        return
    yield f"{indent}if x[{leaf.on}] <= {rounded(leaf.at)}:"
    yield from _lines(leaf.branches[0], pairs, indent + "    ")
    yield f"{indent}else:"
    yield from _lines(leaf.branches[1], pairs, indent + "    ")


def _listed(values: Numbers) -> list[float]:
    return [float(rounded(value)) for value in values.tolist()]
