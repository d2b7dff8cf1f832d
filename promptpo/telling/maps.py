"""Image-like observations as small maps: grids of whole numbers, around what matters in an episode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.telling.columns import called
from promptpo.telling.trace import event

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sandbox import Episode

SMALLEST, LARGEST = 3, 20
"""Rows and columns of a grid that is drawn."""

LAYERS = 4
"""Layers of a grid of three dimensions, at most: of more, and of pixels, nobody reads a map."""

BEFORE = 12
"""Steps before the event at which the first map is."""

FEW_CHANGES = 6
"""Cells that are told one by one where a grid changes; of more changes the step is skipped."""

MOST_LINES = 8
"""Lines of changes."""

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def maps(episode: Episode, names: Mapping[str, str]) -> str:
    """The grid some steps before the event, what changed in it until then, and the grid at the event.

    Args:
        episode: Recorded, of at least one step.
        names: From `promptpo.spec.reading.names_of`.

    Returns:
        Empty where no part of the observation is a small grid of whole numbers.
    """
    trajectory = episode.trajectory
    if trajectory is None or not len(trajectory.rewards) or trajectory.perceived:
        return ""
    rewards = [float(reward) for reward in trajectory.rewards]
    at, _ = event(rewards, terminated=episode.terminated)
    end = min(at + 1, len(trajectory.observations) - 1)  # what the step of the event led to
    first = max(0, end - BEFORE)
    for label, _ in _grids(trajectory.observations[first], "obs"):
        grids = [_part(observation, label) for observation in trajectory.observations[first : end + 1]]
        if any(grid is None or grid.shape != grids[0].shape for grid in grids):
            continue
        head, layers = _headed(label, grids, names)
        lines = [f"{head}; before step {first}:", *_drawn(grids[0], layers)]
        lines += list(_changes(grids, first))[-MOST_LINES:]
        if end > first and not np.array_equal(grids[0], grids[-1]):
            lines += [f"after step {end - 1}:", *_drawn(grids[-1], layers)]
        return "\n".join(lines)
    return ""


def drawn(observation: Any, names: Mapping[str, str]) -> list[str]:
    """One map, of the first small grid of whole numbers in an observation; none where there is none."""
    for label, grid in _grids(observation, "obs"):
        head, layers = _headed(label, [grid], names)
        return ["\n".join([f"{head}:", *_drawn(grid, layers)])]
    return []


def _headed(label: str, grids: Sequence[NDArray[Any]], names: Mapping[str, str]) -> tuple[str, list[int]]:
    """What is said above the maps of some grids, and the layers that are drawn."""
    layers = _layers_worth(grids)
    head = f"{called(label, names)} as a map"
    if grids[0].ndim == 3 and grids[0].shape[2] > 1:  # noqa: PLR2004 - rows, columns, layers
        listed = ", ".join(f"[..., {n}]" for n in layers)
        head += f" ({listed} side by side)" if len(layers) > 1 else f" ({listed})"
    return f"{head}, a line for each first index", layers


def _grids(value: Any, name: str) -> Iterator[tuple[str, NDArray[Any]]]:
    """The parts of an observation that are small grids of whole numbers, each with its expression."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _grids(item, f"{name}[{key!r}]")
    elif isinstance(value, tuple):
        for n, item in enumerate(value):
            yield from _grids(item, f"{name}[{n}]")
    elif isinstance(value, np.ndarray) and _is_grid(value):
        yield name, value


def _is_grid(value: NDArray[Any]) -> bool:
    if value.ndim not in {2, 3} or value.dtype.kind not in "biu":
        return False
    sizes = all(SMALLEST <= n <= LARGEST for n in value.shape[:2])
    layers = 1 if value.ndim == 2 else value.shape[2]  # noqa: PLR2004 - rows and columns
    return sizes and layers <= LAYERS and int(value.min()) >= 0 and int(value.max()) < len(DIGITS)


def _part(value: Any, label: str) -> Any:
    """The grid of that expression in another observation; None where it is none any more."""
    return next((grid for name, grid in _grids(value, "obs") if name == label), None)


def _layers_worth(grids: Sequence[NDArray[Any]]) -> list[int]:
    """Layers that hold more than one value anywhere in these steps; at least the first."""
    if grids[0].ndim == 2:  # noqa: PLR2004 - rows and columns
        return [0]
    stacked = np.stack(grids)
    kept = [n for n in range(stacked.shape[3]) if stacked[..., n].min() != stacked[..., n].max()]
    return kept or [0]


def _drawn(grid: NDArray[Any], layers: Sequence[int]) -> list[str]:
    planes = [grid if grid.ndim == 2 else grid[..., n] for n in layers]  # noqa: PLR2004
    return [
        "  ".join("".join(DIGITS[int(v)] for v in plane[row]) for plane in planes) for row in range(len(grid))
    ]


def _changes(grids: Sequence[NDArray[Any]], first: int) -> Iterator[str]:
    """What each step changed, where that is little."""
    for n in range(1, len(grids)):
        old, new = grids[n - 1], grids[n]
        places = [tuple(map(int, place)) for place in np.argwhere(old != new)]
        if 0 < len(places) <= FEW_CHANGES:
            cells = ", ".join(f"[{', '.join(map(str, p))}] {int(old[p])} -> {int(new[p])}" for p in places)
            yield f"step {first + n - 1} changed {cells}"
