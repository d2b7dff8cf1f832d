"""A plain tuner for comparison: CMA-ES in short episodes, then in whole ones, then a choice on shared initial states."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from promptpo.cma_es import evolution_strategy
from promptpo.features.tuning.space import ParamSpace
from promptpo_sandbox import Trial

if TYPE_CHECKING:
    from promptpo.program import Program
    from promptpo_sandbox import Rollout

PARTS = ((4, 0.70, 0.2), (1, 0.85, 0.1))
"""For each search: divisor of the episode length, fraction of the steps at which it ends, initial step size."""


def tune(
    program: Program,
    roll: Callable[[Sequence[Trial]], Rollout],
    seeds: Callable[[int, int], Sequence[int]],
    horizon: int,
    steps: int,
    rng: np.random.Generator,
) -> Program:
    """Return the program with other numbers, or with its own.

    Args:
        program: A program with ``PARAMS``.
        roll: Plays trials.
        seeds: Returns n training seeds for (start, n).
        horizon: Full episode length, in steps.
        steps: Maximum environment steps, which the last generation may exceed.
        rng: Determines everything random.
    """
    space, spent, used = ParamSpace(program.params), 0, 1000

    def means(vectors: Sequence[np.ndarray], episodes: int, length: int) -> list[float]:
        nonlocal spent, used
        starts, returns = seeds(used, episodes), []
        used += episodes
        for vector in vectors:
            rollout = roll([Trial(start, space.decode(vector), length) for start in starts])
            spent += rollout.steps
            failed = any(episode.failure is not None for episode in rollout.episodes)
            returns.append(
                -1e9 if failed else statistics.fmean(episode.return_ for episode in rollout.episodes)
            )
        return returns

    place = space.encode(space.defaults)
    finalists = [place]
    for part, share, width in PARTS:
        search, best, top = evolution_strategy(place, width, rng), None, -math.inf
        while spent < share * steps:
            asked = [np.asarray(vector) for vector in search.ask()]
            got = means([vector[: len(space)] for vector in asked], 1, horizon // part)
            search.tell(asked, [-score for score in got])
            if max(got) > top:
                top, best = max(got), asked[int(np.argmax(got))][: len(space)]
        place = np.clip(np.asarray(search.result.xfavorite)[: len(space)], 0, 1)
        finalists += [place] if best is None else [place, best]
    each = max(1, (steps - spent) // (len(finalists) * horizon))
    return program.with_values(space.decode(finalists[int(np.argmax(means(finalists, each, horizon)))]))
