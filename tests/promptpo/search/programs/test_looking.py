"""What rollouts of random actions tell about places, targets and modes."""

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from promptpo.search.programs.leaves import leaves_of
from promptpo.search.programs.looking import look
from promptpo.search.programs.scene import Scene, Seen
from tests.promptpo.search.programs.worlds import Courier, Lift, Room


def wandering(env: Any, episodes: int = 8, steps: int = 120) -> Seen:
    """Rollouts of random actions, each often repeated."""
    rng = np.random.default_rng(0)
    observations, actions = [], []
    for seed in range(episodes):
        observation, _ = env.reset(seed=seed)
        seen, taken, action = [observation], [], 0
        for t in range(steps):
            if t == 0 or rng.random() < 0.7:
                action = int(rng.integers(env.action_space.n))
            observation, _, terminated, truncated, _ = env.step(action)
            seen.append(observation)
            taken.append(action)
            if terminated or truncated:
                break
        observations.append(seen)
        actions.append(taken)
    return Seen(observations, actions)


def scene_of(env: Any) -> Scene:
    leaves = leaves_of(env.observation_space)
    assert leaves is not None
    scene = look(leaves, wandering(env), tuple(range(env.action_space.n)))
    assert scene is not None
    return scene


@pytest.mark.parametrize("layout", ["dict", "flat", "levels"])
def test_a_lift_has_a_floor_calls_and_a_door(layout: str) -> None:
    """In every layout: two moves along one coordinate, the calls as targets, the door as a mode, which is no place."""
    scene = scene_of(Lift(layout))
    assert dict(scene.moves) == {0: (1,), 1: (-1,)}
    assert scene.sizes == (6,)
    assert len(scene.targets) == 1
    assert [mode.values for mode in scene.modes] == [(0, 1)]
    assert scene.acts == (2, 3)


@pytest.mark.parametrize("layout", ["dict", "levels", "flags", "board", "planes"])
def test_a_courier_has_rows_columns_and_two_targets(layout: str) -> None:
    """As pairs of numbers, as one flag among many, as marks on a board and as planes; a parcel is no coordinate."""
    scene = scene_of(Courier(layout))
    assert dict(scene.moves) == {0: (-1, 0), 1: (1, 0), 2: (0, -1), 3: (0, 1)}
    assert scene.sizes == (5, 5)
    assert len(scene.targets) >= 2
    assert scene.hides == (layout == "board")


def test_a_view_from_the_own_place_is_recognised() -> None:
    """Where one stands, what turns and what moves, what is in the way, and what is a thing."""
    view = scene_of(Room()).view
    assert view is not None
    assert view.centre == (4, 2)
    assert view.ahead == (-1, 0)
    assert view.forward == 2
    assert dict(view.turns) == {0: 1, 1: 3}
    assert set(view.solid) == {2, 3}
    assert 3 in view.things


def test_observations_that_are_no_whole_numbers_are_left_to_others() -> None:
    """Unbounded or fractional entries, and pictures."""
    assert leaves_of(spaces.Box(-np.inf, np.inf, (4,))) is None
    assert leaves_of(spaces.Box(-0.5, 0.5, (4,))) is None
    assert leaves_of(spaces.Box(0, 255, (96, 96, 3), np.uint8)) is None
    fractions = leaves_of(spaces.Box(0.0, 1.0, (2,)))
    assert fractions is not None
    rng = np.random.default_rng(1)
    seen = Seen([[rng.random(2) for _ in range(50)]], [[0] * 49])
    assert look(fractions, seen, (0, 1, 2)) is None


def test_names_that_programs_use_themselves_are_changed() -> None:
    """A field called like a keyword or a function of the program does not hide it."""
    space = spaces.Dict({name: spaces.Discrete(3) for name in ("class", "place", "2nd floor")})
    leaves = leaves_of(space)
    assert leaves is not None
    assert [leaf.name for leaf in leaves] == ["part2nd_floor", "class_", "place_"]
