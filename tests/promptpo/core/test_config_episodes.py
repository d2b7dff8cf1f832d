"""Default numbers of training and validation episodes."""

from typing import Any

import pytest

from promptpo.core.config import Budget, Config
from promptpo.envs.task import Task, Variant
from promptpo.run.episodes import with_episodes


def default_episodes(horizon: Any, steps: Any = None, sampled: float = 50.0, **more: Any) -> Any:
    """Return the numbers of training and validation episodes of a run."""
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
def test_number_of_episodes_adapts_to_their_length(
    horizon: int | None, steps: int | None, sampled: float, decided: Any
) -> None:
    """Short noisy episodes need many; all stay within a fifth of the budget in the worst case."""
    assert default_episodes(horizon, steps, sampled) == decided


def test_explicit_numbers_of_episodes_are_kept() -> None:
    assert default_episodes(None, None, 1.5, validation_episodes=7, recipe="paper") == (5, 7)


def test_episodes_are_a_multiple_of_the_variants() -> None:
    """Explicit numbers are kept."""
    task = Task("X-v0", variants=tuple(Variant({"n": n}) for n in range(7)))
    decided = with_episodes(Config(task, budget=Budget(steps=None)), 200)
    assert (decided.episodes, decided.validation_episodes) == (14, 21)
    named = with_episodes(Config(task, episodes=4, validation_episodes=9), 200)
    assert (named.episodes, named.validation_episodes) == (4, 9)
