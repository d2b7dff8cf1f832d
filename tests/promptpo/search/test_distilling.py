"""Programs fitted to a teacher: they do what it does, whatever the spaces, and their numbers can be tuned."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from promptpo.program import Program
from promptpo.search.distilling import distilled
from promptpo.search.teacher import agreement
from sandbox import Episode, Trajectory


def taught(observations: list[Any], act: Callable[[Any], Any], length: int = 60) -> list[Episode]:
    """Episodes in which a teacher saw these observations one after the other."""
    episodes = []
    for seed, start in enumerate(range(0, len(observations) - 1, length)):
        seen = observations[start : start + length + 1]
        done = [act(obs) for obs in seen[:-1]]
        trajectory = Trajectory(seen, done, [0.0] * len(done))
        episodes.append(
            Episode(seed, 0.0, len(done), terminated=True, truncated=False, success=None, clipped=0,
                    policy_seconds=0.0, trajectory=trajectory)
        )  # fmt: skip
    return episodes


BOX = spaces.Box(-3.0, 3.0, (3,), np.float64)


def states(n: int = 241) -> list[Any]:
    """Random observations of three numbers."""
    return list(np.random.default_rng(0).uniform(-3, 3, (n, 3)))


def test_a_rule_over_sums_is_found_again() -> None:
    """Three actions by weighted sums: the fitted sums choose the same nearly always, the tree mostly."""
    weights = np.array([[1.0, 0.5, 0.0], [-1.0, 0.0, 1.0], [0.0, -1.0, 0.5]])
    action = spaces.Discrete(3, start=2)
    episodes = taught(states(), lambda obs: int(np.argmax(weights @ obs)) + 2)
    linear, tree, products = distilled(episodes, BOX, action)
    spec: Any = SimpleNamespace(observation_space=BOX, action_space=action)
    for source, least in ((linear, 0.9), (tree, 0.75), (products, 0.85)):
        program = Program.parse(source)
        found = agreement(source, program.values, episodes, spec)
        assert found is not None
        assert found.measure == "equal actions"
        assert found.steps == 240
        assert found.values[0] is not None
        assert found.values[0] > least
    assert len(Program.parse(linear).params) == 12
    assert all(low < value < high for value, low, high in Program.parse(linear).params.values())


def test_a_threshold_is_found_by_the_tree() -> None:
    """What no sum of these numbers can express: inside or outside of a band."""
    action = spaces.Discrete(2)
    episodes = taught(states(), lambda obs: int(abs(obs[1]) < 1.0))
    linear, tree, _ = distilled(episodes, BOX, action)
    spec: Any = SimpleNamespace(observation_space=BOX, action_space=action)
    sums, rules = (agreement(each, Program.parse(each).values, episodes, spec) for each in (linear, tree))
    assert sums is not None
    assert rules is not None
    assert (rules.values[0] or 0) > 0.97
    assert (sums.values[0] or 0) < 0.9


def test_continuous_actions_are_compared_by_dimension() -> None:
    """R² for each dimension; where the teacher never varies there is nothing to explain."""
    action = spaces.Box(-10.0, 10.0, (3,), np.float32)
    episodes = taught(states(), lambda obs: np.array([obs[0] - obs[1], obs[2] ** 2, 0.5], dtype=np.float32))
    linear, _, products = distilled(episodes, BOX, action)
    spec: Any = SimpleNamespace(observation_space=BOX, action_space=action)
    first, second = (
        agreement(each, Program.parse(each).values, episodes, spec) for each in (linear, products)
    )
    assert first is not None
    assert second is not None
    assert first.measure == "r2"
    assert (first.values[0] or 0) > 0.99
    assert (first.values[1] or 0) < 0.5
    assert first.values[2] is None
    assert (second.values[1] or 0) > 0.99


@pytest.mark.parametrize(
    ("space", "draw"),
    [
        (spaces.Discrete(6), lambda rng: int(rng.integers(6))),
        (
            spaces.Dict({"at": spaces.Box(-1, 1, (2,), np.float32), "on": spaces.Discrete(3)}),
            lambda rng: {"at": rng.uniform(-1, 1, 2).astype(np.float32), "on": int(rng.integers(3))},
        ),
        (
            spaces.Tuple([spaces.MultiBinary(3), spaces.Box(0, 255, (2, 2), np.uint8)]),
            lambda rng: (
                rng.integers(0, 2, 3).astype(np.int8),
                rng.integers(0, 255, (2, 2)).astype(np.uint8),
            ),
        ),
    ],
)
def test_observations_of_other_kinds_are_read(space: Any, draw: Any) -> None:
    """The program reads them in the sandbox as the fit has read them here."""
    rng, action = np.random.default_rng(1), spaces.Discrete(2)
    seen = [draw(rng) for _ in range(121)]

    def act(obs: Any) -> int:
        if isinstance(obs, dict):
            return int(obs["on"] == 1)
        return int(obs[0][1]) if isinstance(obs, tuple) else int(obs in {1, 4})

    episodes = taught(seen, act)
    spec: Any = SimpleNamespace(observation_space=space, action_space=action)
    tree = distilled(episodes, space, action)[1]
    found = agreement(tree, None, episodes, spec)
    assert found is not None
    assert found.values[0] == 1.0


def test_what_cannot_be_fitted_gives_no_program() -> None:
    """Large images, actions in parts, and next to no steps."""
    image = spaces.Box(0, 255, (64, 64, 3), np.uint8)
    seen = [np.zeros((64, 64, 3), np.uint8)] * 30
    assert distilled(taught(seen, lambda _: 0), image, spaces.Discrete(2)) == []
    pair = spaces.Tuple([spaces.Discrete(2), spaces.Discrete(2)])
    assert distilled(taught(states(), lambda _: (0, 1)), BOX, pair) == []
    assert distilled(taught(states(5), lambda _: 0), BOX, spaces.Discrete(2)) == []


def test_a_program_that_remembers_sees_whole_episodes() -> None:
    """Each of the teacher's episodes is one of the program's, from its first state on; one that fails is left out."""
    action = spaces.Discrete(2)
    count = """
class Policy:
    def __init__(self):
        self.n = 0

    def act(self, obs):
        self.n += 1
        return int(self.n > 30)
"""
    episodes = taught(states(), lambda _: 0)
    spec: Any = SimpleNamespace(observation_space=BOX, action_space=action)
    found = agreement(count, None, episodes, spec)
    assert found is not None
    assert found.values == (0.5,)
    assert agreement(count.replace("int(self.n > 30)", "[][0]"), None, episodes, spec) is None
