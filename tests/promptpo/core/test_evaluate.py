"""Boundaries of what is not rolled out further."""

from __future__ import annotations

import pytest

from promptpo.core.evaluate import _hopeless
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation


def early(*returns: float, success: bool | None = None) -> Evaluation:
    """The first episodes of a candidate."""
    episodes = tuple(EpisodeRecord(seed, value, 10, success) for seed, value in enumerate(returns))
    return Evaluation("ok", episodes, 10 * len(returns))


@pytest.mark.parametrize(
    ("first", "bar", "hopeless"),
    [
        (early(1.0, 9.9), (10.0, 50.0), True),
        (early(1.0, 10.0), (10.0, 50.0), False),
        (early(1.0, 30.0), (10.0, 50.0), False),
        (early(9.0, 9.5, success=False), (10.0,), True),
        (early(9.0, 9.5, success=True), (10.0,), False),
        (early(1.0), (), False),
    ],
)
def test_hopeless_is_what_has_no_episode_as_good_as_the_worst_of_the_best(
    first: Evaluation, bar: tuple[float, ...], hopeless: bool
) -> None:
    """And no success; without a bar nothing is."""
    assert _hopeless(first, bar) is hopeless
