"""Every kind of space crosses the border both ways, without pickle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from promptpo_sandbox import Sandbox, Trial, UnsupportedSpaceError
from promptpo_sandbox.guest.actions import InvalidActionError, coerce
from promptpo_sandbox.spaces import layout_of
from tests.sandbox.environments import EchoEnv

SPACES: dict[str, spaces.Space[Any]] = {
    "box_float32": spaces.Box(-1, 1, (3,), np.float32),
    "box_float64_unbounded": spaces.Box(-np.inf, np.inf, (2, 2), np.float64),
    "box_scalar": spaces.Box(0, 1, (), np.float32),
    "image": spaces.Box(0, 255, (96, 96, 3), np.uint8),
    "box_int": spaces.Box(-5, 5, (2,), np.int16),
    "box_bool": spaces.Box(0, 1, (2,), np.bool_),
    "discrete": spaces.Discrete(4),
    "discrete_start": spaces.Discrete(3, start=-1),
    "multi_discrete": spaces.MultiDiscrete([3, 5, 2]),
    "multi_discrete_2d": spaces.MultiDiscrete(np.array([[2, 3], [4, 5]])),
    "multi_binary": spaces.MultiBinary(6),
    "text": spaces.Text(12, min_length=1),
    "dict": spaces.Dict({"image": spaces.Box(0, 255, (4, 4), np.uint8), "n": spaces.Discrete(3, start=1), "word": spaces.Text(5)}),
    "tuple": spaces.Tuple((spaces.Discrete(2), spaces.Box(-1, 1, (2,)), spaces.MultiBinary(2))),
    "nested": spaces.Dict({"a": spaces.Tuple((spaces.Discrete(2), spaces.Dict({"b": spaces.Box(0, 1, (1,))})))}),
    "sequence": spaces.Sequence(spaces.Discrete(5)),
    "sequence_stacked": spaces.Sequence(spaces.Box(0, 1, (2,)), stack=True),
    "one_of": spaces.OneOf((spaces.Discrete(2), spaces.Box(0, 1, (2,)))),
}  # fmt: skip


def same(a: Any, b: Any) -> bool:
    """Return whether two nested values are equal in value, shape and kind."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b)
    return bool(a == b)


ECHO = """
class Policy:
    def act(self, obs):
        return obs
"""


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("lanes", [1, 3])
def test_observations_return_unchanged_as_actions(name: str, lanes: int, box: Sandbox) -> None:
    """This holds in every lane."""
    envs = [EchoEnv(SPACES[name], SPACES[name]) for _ in range(lanes)]
    rollout = box.rollout(ECHO, envs, [Trial(seed) for seed in range(lanes)], record=True)
    assert rollout.failure is None, rollout.failure
    for env, episode in zip(envs, rollout.episodes, strict=True):
        assert episode.steps == env.length
        assert all(same(shown, got) for shown, got in zip(env.shown, env.actions, strict=False))
        assert all(SPACES[name].contains(action) for action in env.actions)
        assert episode.trajectory is not None
        assert all(same(a, b) for a, b in zip(env.shown, episode.trajectory.observations, strict=True))


TYPES = """
class Policy:
    def act(self, obs):
        print(type(obs).__name__, *[type(v).__name__ for v in (obs.values() if isinstance(obs, dict) else obs if isinstance(obs, tuple) else [])])
        return 0
"""


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("discrete_start", "int"),
        ("image", "ndarray"),
        ("dict", "dict ndarray int str"),
        ("tuple", "tuple int ndarray ndarray"),
        ("text", "str"),
    ],
)
def test_types_of_observations(name: str, kinds: str, box: Sandbox) -> None:
    """Arrays for boxes, Python ints for discrete spaces, str, dict and tuple."""
    rollout = box.rollout(TYPES, [EchoEnv(SPACES[name], spaces.Discrete(2))], [Trial(0)])
    assert rollout.failure is None, rollout.failure
    assert set(rollout.output.splitlines()) == {kinds}


class OddEnv(EchoEnv):
    """Returns float64 of changing shapes although float32 of one shape is declared."""

    def _show(self) -> Any:
        n = len(self.shown)
        self.shown.append(np.arange(n % 3 + 1, dtype=[np.float64, np.float32, np.int64][n % 3]) * 1000)
        return self.shown[-1]


def test_observations_keep_their_dtype_and_shape(box: Sandbox) -> None:
    """Whatever the space declares, also if they change between steps and lanes."""
    source = "class Policy:\n    def act(self, obs):\n        print(obs.dtype, obs.shape, obs.sum())\n        return 0\n"
    envs = [OddEnv(SPACES["box_float32"], spaces.Discrete(2), length) for length in (5, 7)]
    rollout = box.rollout(source, envs, [Trial(0), Trial(1)])
    expected = [f"{o.dtype} {o.shape} {o.sum()}" for env in envs for o in env.shown[:-1]]
    assert rollout.output.splitlines() == expected


def test_graph_space_is_refused(box: Sandbox) -> None:
    """It is the caller's error."""
    graph = spaces.Graph(spaces.Box(0, 1, (2,)), None)
    with pytest.raises(UnsupportedSpaceError, match="Graph space cannot cross"):
        box.rollout(ECHO, [EchoEnv(graph, spaces.Discrete(2))], [Trial(0)])


BAD = [
    ("discrete", 4), ("discrete", -1), ("discrete", 0.5), ("discrete", None), ("discrete", "1"), ("discrete", [0, 1]),
    ("box_float32", [0.0, float("nan"), 0.0]), ("box_float32", [0.0, 2.0, 0.0]), ("box_float32", 0.5),
    ("box_float32", np.zeros((3, 1))), ("box_float32", "abc"), ("box_float32", [1j, 0, 0]), ("box_float64_unbounded", np.full((2, 2), np.inf)),
    ("box_int", [0.5, 0.0]), ("box_int", [100000, 0]), ("multi_discrete", [3, 0, 0]), ("multi_binary", [2] * 6),
    ("text", ""), ("text", "x" * 13), ("text", 5), ("dict", {"n": 1}), ("tuple", (0,)), ("sequence", 3), ("sequence", (9,)), ("one_of", (2, 0)), ("one_of", 0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD, ids=lambda value: str(value)[:20])
def test_invalid_action_is_refused(name: str, value: Any) -> None:
    """The sentence has the value and the space."""
    with pytest.raises(InvalidActionError, match=r"act returned .* wants "):
        coerce(layout_of(SPACES[name]), value)


GOOD = [
    ("discrete", np.int8(3), 3), ("discrete", True, 1), ("discrete", np.bool_(False), 0), ("discrete", 2.0, 2),
    ("discrete", np.array([1]), 1), ("discrete", np.float32(1.0), 1), ("discrete_start", -1, -1),
    ("box_scalar", 0.5, np.float32(0.5)), ("box_int", [1.0, 2.0], np.array([1, 2], np.int16)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "expected"), GOOD, ids=lambda value: str(value)[:20])
def test_equivalent_forms_of_numbers_are_accepted(name: str, value: Any, expected: Any) -> None:
    """Numpy scalars, bools and whole floats."""
    assert np.array_equal(coerce(layout_of(SPACES[name]), value), expected)
