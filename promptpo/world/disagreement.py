"""How far several world models differ about the same actions: high where the recorded steps do not say who is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.program import Program
from promptpo.world.mismatches import TINY, Transitions
from promptpo.world.numbers import rows
from promptpo.world.replaying import replayed

if TYPE_CHECKING:
    import gymnasium

    from promptpo.rollouts import Executor
    from sandbox import Recorded

Floats = np.ndarray[Any, np.dtype[np.float64]]

AHEAD = 5
"""Steps that each model predicts from its own predictions."""

MOST = 10.0
"""A difference is counted as so many usual changes at most."""


async def disagreement(
    executor: Executor,
    sources: Sequence[str],
    episodes: Sequence[Recorded],
    known: Sequence[Recorded],
    spaces: tuple[gymnasium.Space[Any], gymnasium.Space[Any]],
) -> float | None:
    """How far models differ along episodes, as a mean over their steps and over pairs with the first.

    Observations count in usual changes, rewards in usual differences of rewards, and 1 for an ending.

    Args:
        executor: Where they run.
        sources: Two models at least, with their numbers.
        episodes: Actions, and observations that models are put in step with every few steps; imagined ones will do.
        known: Recorded steps, which say what is usual.
        spaces: Of observations and actions.

    Returns:
        The mean; None where a model fails, or there is nothing to compare.
    """
    if len(sources) < 2 or not episodes or not known:  # noqa: PLR2004
        return None
    usual = Transitions.of(known, spaces[0])
    spread = max(float(np.std(usual.rewards)), TINY)
    spread = spread if spread > 1e-9 else max(float(np.abs(usual.rewards).max(initial=0.0)), 1.0)  # noqa: PLR2004
    found = []
    for source in sources:
        values: Mapping[str, float] | None = Program.parse(source).values
        one = await replayed(executor, source, values, episodes, spaces, every=AHEAD)
        if one.failure is not None:
            return None
        found.append((rows(spaces[0], one.observations), one.rewards, one.terminated))
    (seen, earned, ended), *others = found
    apart: list[Floats] = []
    for their_seen, their_earned, their_ended in others:
        off = np.abs(seen - their_seen)
        off = np.where(usual.discrete, off > 0, off / usual.sizes)
        total = np.minimum(off, MOST).mean(axis=1)
        total = total + np.minimum(np.abs(earned - their_earned) / spread, MOST) + (ended != their_ended)
        apart.append(total)
    return float(np.mean(apart))
