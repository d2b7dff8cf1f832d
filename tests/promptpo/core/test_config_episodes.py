"""How many episodes judge a candidate, where the user did not say."""

from typing import Any

import pytest

from promptpo.core.config import Budget, Config
from promptpo.envs.task import Task, Variant
from promptpo.run.episodes import with_episodes


def episodes(horizon: Any, steps: Any = None, sampled: float = 50.0, **more: Any) -> Any:
    """Training and validation episodes of a run."""
    config = Config(Task("X-v0"), model="search", budget=Budget(steps=steps), **more)
    decided = with_episodes(config, horizon, sampled)
    return decided.episodes, decided.validation_episodes


@pytest.mark.parametrize(
    ("horizon", "steps", "sampled", "decided"),
    [
        (200, None, 50.0, (10, 20)),
        (None, None, 50.0, (10, 20)),
        (1000, 131_072, 50.0, (3, 5)),
        (None, None, 1.5, (100, 1000)),
        (None, 20_000, 1.5, (66, 133)),
        (13, None, 1.5, (10, 20)),
    ],
)
def test_many_where_they_are_tiny_and_few_where_they_are_long(
    horizon: int | None, steps: int | None, sampled: float, decided: Any
) -> None:
    """Within a fifth of the budget in the worst case; a hand of cards says little, and costs nothing."""
    assert episodes(horizon, steps, sampled) == decided


def test_what_the_user_says_counts() -> None:
    """Nothing is decided for them."""
    assert episodes(None, None, 1.5, validation_episodes=7, recipe="paper") == (5, 7)


def test_variants_of_a_task_are_played_equally_often() -> None:
    """As many episodes as the budget pays for, rounded up to a multiple of the variants; a user's number stays."""
    task = Task("X-v0", variants=tuple(Variant({"n": n}) for n in range(7)))
    decided = with_episodes(Config(task, budget=Budget(steps=None)), 200)
    assert (decided.episodes, decided.validation_episodes) == (14, 21)
    named = with_episodes(Config(task, episodes=4, validation_episodes=9), 200)
    assert (named.episodes, named.validation_episodes) == (4, 9)
