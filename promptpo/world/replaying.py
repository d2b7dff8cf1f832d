"""What a world model predicts of recorded steps: asked for in pieces, and kept for charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.world.numbers import joined, quantities, rows
from sandbox import Predictions, Replay

if TYPE_CHECKING:
    import gymnasium

    from promptpo.rollouts import Executor
    from sandbox import Recorded

MESSAGE_VALUES = 500_000
"""Numbers that one request may ask for."""

TRACED, MOST_TRACED, TRACED_AHEAD = 200, 6, 25
"""Steps of a held-out episode that are kept for charts, quantities, and steps between two looks at what happened."""


async def replayed(
    executor: Executor,
    source: str,
    params: Mapping[str, float] | None,
    episodes: Sequence[Recorded],
    spaces: tuple[gymnasium.Space[Any], gymnasium.Space[Any]],
    *,
    every: int,
    seed: int = 0,
) -> Predictions:
    """A model's predictions of all steps, asked for in as many pieces as it takes."""
    width = len(quantities(spaces[0]) or [1])
    pieces: list[list[Recorded]] = [[]]
    size = 0
    for episode in episodes:
        size += len(episode) * width
        if size > MESSAGE_VALUES and pieces[-1]:
            pieces.append([])
            size = len(episode) * width
        pieces[-1].append(episode)
    found = [
        await executor.replay(Replay(source, params, tuple(piece), every, 7919 * seed + i, *spaces))
        for i, piece in enumerate(pieces)
    ]
    broken = next((one for one in found if one.failure is not None), None)
    if broken is not None or len(found) == 1:
        return broken or found[0]
    return Predictions(
        joined([one.observations for one in found]),
        np.concatenate([one.rewards for one in found]),
        np.concatenate([one.terminated for one in found]),
    )


async def traced(
    executor: Executor,
    source: str,
    params: Mapping[str, float] | None,
    episodes: Sequence[Recorded],
    spaces: tuple[gymnasium.Space[Any], gymnasium.Space[Any]],
) -> dict[str, Any]:
    """One held-out episode as it went and as it was predicted, put in step every 25 steps; empty where it cannot be.

    Returns:
        For charts: "every", and "series" with the name, the real and the predicted values of the quantities that
        change most often.
    """
    known = quantities(spaces[0])
    if known is None or not episodes:
        return {}
    longest = max(episodes, key=len)
    found = await replayed(executor, source, params, [longest], spaces, every=TRACED_AHEAD)
    if found.failure is not None:
        return {}
    real, guess = rows(spaces[0], longest.observations)[1:], rows(spaces[0], found.observations)
    changes = [len(np.unique(real[:TRACED, i])) for i in range(real.shape[1])]
    shown = sorted(np.argsort(np.negative(changes), kind="stable")[:MOST_TRACED].tolist())
    return {
        "every": TRACED_AHEAD,
        "series": [
            {
                "name": known[i].name,
                "real": [float(f"{value:.5g}") for value in real[:TRACED, i]],
                "predicted": [float(f"{value:.5g}") for value in guess[:TRACED, i]],
            }
            for i in shown
        ],
    }
