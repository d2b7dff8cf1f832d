"""Functions on images, and the values of `perceive` beside recorded steps."""

from __future__ import annotations

import inspect
import random
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from promptpo_sandbox import Sandbox, Trial, check_source
from promptpo_sandbox.gate.names import LOOKING
from promptpo_sandbox.guest import looking, seen, wire
from promptpo_sandbox.guest.plain import encode
from promptpo_sandbox.guest.wire import message
from promptpo_sandbox.lockstep.progress import Progress
from promptpo_sandbox.lockstep.rollout import Runner
from promptpo_sandbox.results import Limits
from tests.sandbox.forged import Forgers

MASKS = arrays.arrays(bool, st.tuples(st.integers(1, 9), st.integers(1, 9)))


class PictureEnv(gymnasium.Env[Any, Any]):
    """A red square on blue that goes one column to the right at every step; the array is the same one always."""

    observation_space = spaces.Box(0, 255, (40, 60, 3), np.uint8)
    action_space = spaces.Discrete(2)

    def __init__(self) -> None:
        self.picture = np.zeros((40, 60, 3), np.uint8)
        self.at = 0

    def _look(self) -> Any:
        self.picture[:] = (0, 0, 200)
        self.picture[10:14, self.at : self.at + 4] = (250, 0, 0)
        return self.picture

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.at = int(self.np_random.integers(0, 9))
        return self._look(), {}

    def step(self, action: Any) -> Any:
        self.at += 1
        return self._look(), float(action), False, False, {}


LOOKS = """
from looking import coloured, components


class Policy:
    def perceive(self, obs):
        things = components(coloured(obs, (250, 0, 0)))
        return {"thing": (things[0]["row"], things[0]["column"]), "gap": None, "large": obs, "n": len(things)}

    def act(self, obs):
        seen = self.perceive(obs)
        return int(seen["thing"][1] > 8)
"""


def flood_fill(mask: Any, diagonal: bool) -> list[set[tuple[int, int]]]:
    """Return the connected components of a mask, found pixel by pixel."""
    left = {(int(r), int(c)) for r, c in np.argwhere(mask)}
    pieces = []
    while left:
        border, piece = [left.pop()], set()
        while border:
            row, column = border.pop()
            piece.add((row, column))
            near = [
                (row + a, column + b)
                for a in (-1, 0, 1)
                for b in (-1, 0, 1)
                if diagonal or abs(a) + abs(b) == 1
            ]
            border += [place for place in near if place in left]
            left -= set(near)
        pieces.append(piece)
    return pieces


@settings(max_examples=30, deadline=None)
@given(MASKS, st.booleans())
def test_components_agree_with_a_flood_fill(mask: Any, diagonal: bool) -> None:
    pieces = flood_fill(mask, diagonal)
    labelled, count = looking.labels(mask, diagonal)
    assert count == len(pieces)
    assert {frozenset(map(tuple, np.argwhere(labelled == n).tolist())) for n in range(1, count + 1)} == {
        frozenset(piece) for piece in pieces
    }
    components = looking.components(mask, 1, diagonal)
    assert [piece["area"] for piece in components] == sorted(map(len, pieces), reverse=True)
    for piece in pieces:
        rows, columns = [r for r, _ in piece], [c for _, c in piece]
        assert any(
            (one["top"], one["bottom"], one["left"], one["right"])
            == (min(rows), max(rows), min(columns), max(columns))
            and one["row"] == pytest.approx(np.mean(rows))
            and one["column"] == pytest.approx(np.mean(columns))
            for one in components
        )
    assert looking.components(mask, mask.size + 1, diagonal) == []


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_template_is_found_where_it_was_cut(data: st.DataObject) -> None:
    """This holds in grey and in colour; a template larger than the image is found nowhere."""
    shape = data.draw(st.sampled_from([(9, 8), (9, 8, 3), (9, 8, 1)]))
    picture = data.draw(arrays.arrays(np.uint8, shape))
    top, left = data.draw(st.integers(0, 6)), data.draw(st.integers(0, 5))
    template = looking.crop(picture, top, top + 3, left, left + 3)
    row, column, difference = looking.match(picture, template)
    assert difference == 0
    assert np.array_equal(picture[row : row + 3, column : column + 3], template)
    assert looking.match(template, picture) is None


def test_grey_crop_threshold_and_centroid() -> None:
    picture = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
    assert looking.grey(picture)[1, 2] == pytest.approx(0.299 * 21 + 0.587 * 22 + 0.114 * 23)
    assert looking.grey(picture[:, :, 0]).tolist() == picture[:, :, 0].tolist()
    assert looking.grey(picture[:, :, :1]).shape == (4, 5)
    smaller = looking.downscale(picture, 2)
    assert smaller.shape == (2, 2, 3)
    assert smaller[0, 0, 0] == pytest.approx(picture[:2, :2, 0].mean())
    assert looking.crop(picture, -3, 2, 3, 99).shape == (2, 2, 3)
    assert (
        looking.threshold(picture, (0, 0, 5), 255).sum() == looking.threshold(picture[:, :, 2], 5, 255).sum()
    )
    assert looking.coloured(picture, (3, 4, 5), 0).sum() == 1
    assert looking.coloured(np.array([[250]], np.uint8), 255, 5).all()
    assert looking.centroid(np.zeros((3, 3), bool)) is None
    assert looking.centroid(np.eye(3, dtype=bool)) == (1.0, 1.0)
    assert looking.centroids(np.eye(3, dtype=bool), diagonal=False) == [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)]


def test_looking_passes_the_gate() -> None:
    """Its source becomes part of exported policies."""
    source = inspect.getsource(looking)
    assert check_source(source) is None
    assert {name for name, item in vars(looking).items() if inspect.isfunction(item)} == LOOKING
    refused = check_source("from looking import inspect\n")
    assert refused is not None
    assert "looking.inspect" in refused.message


@pytest.mark.parametrize(
    "lines",
    [
        "import looking\n\n\ndef near(obs):\n    return looking.coloured(obs, (250, 0, 0))\n",
        "import looking as eyes\n\n\ndef near(obs):\n    return eyes.coloured(obs, (250, 0, 0))\n",
        "def near(obs):\n    from looking import coloured as near_to\n    return near_to(obs, (250, 0, 0))\n",
    ],
)
def test_looking_can_be_imported_in_every_way(box: Sandbox, lines: str) -> None:
    source = f"{lines}\n\nclass Policy:\n    def act(self, obs):\n        return int(near(obs).sum() == 16)\n"
    rollout = box.rollout(source, [PictureEnv()], [Trial(0, horizon=4)])
    assert rollout.failure is None
    assert rollout.episodes[0].return_ == 4


def test_perceptions_replace_images_in_records(box: Sandbox) -> None:
    """Each step has one small plain dict; actions do not change."""
    trials = [Trial(seed, horizon=6) for seed in range(3)]
    plain = box.rollout(LOOKS, [PictureEnv(), PictureEnv()], trials)
    rollout = box.rollout(LOOKS, [PictureEnv(), PictureEnv()], trials, record="seen")
    assert rollout.failure is None
    assert [e.return_ for e in rollout.episodes] == [e.return_ for e in plain.episodes]
    for episode in rollout.episodes:
        trajectory = episode.trajectory
        assert trajectory is not None
        assert trajectory.perceived
        assert len(trajectory.observations) == 6
        first = trajectory.observations[0]["thing"]
        assert [one["thing"] for one in trajectory.observations] == [(11.5, first[1] + n) for n in range(6)]
        assert trajectory.observations[3]["gap"] is None
        assert "large" not in trajectory.observations[3]


@pytest.mark.parametrize(
    "perceive",
    [
        "",
        "perceive = 3\n",
        "def perceive(self, obs):\n        return [1, 2]\n",
        "def perceive(self, obs):\n        return {1: 2, 'x': object()}\n",
        "@staticmethod\n    def perceive(obs):\n        return {'far': 10 ** 30}\n",
    ],
)
def test_perceive_without_a_dict_records_empty_dicts(box: Sandbox, perceive: str) -> None:
    call = "self.perceive(obs)" if "def" in perceive else "None"
    source = f"class Policy:\n    {perceive or 'pass'}\n\n    def act(self, obs):\n        {call}\n        return 1\n"
    rollout = box.rollout(source, [PictureEnv()], [Trial(0, horizon=3)], record="seen")
    assert rollout.failure is None
    trajectory = rollout.episodes[0].trajectory
    assert trajectory is not None
    assert list(trajectory.observations) == [{}, {}, {}]


def test_perceive_works_as_a_static_and_as_a_class_method(box: Sandbox) -> None:
    """Its wrapper must pass the same arguments on."""
    for first in ("@staticmethod\n    def perceive(obs):", "@classmethod\n    def perceive(cls, obs):"):
        source = f"""
class Policy:
    {first}
        return {{"corner": int(obs[0, 0, 2])}}

    def act(self, obs):
        return self.perceive(obs)["corner"] - 199
"""
        rollout = box.rollout(source, [PictureEnv()], [Trial(0, horizon=2)], record="seen")
        assert rollout.failure is None
        assert rollout.episodes[0].trajectory.observations[1] == {"corner": 200}


@pytest.mark.parametrize(
    "payload",
    [b"x", encode({"a": b"y" * wire.MAX_SEEN_BYTES}), encode({"a": list(range(seen.MAX_DICT_VALUES))})],
    ids=["no data", "too long", "too many"],
)
def test_forged_perceptions_are_the_policys_failure(payload: bytes) -> None:
    def answer(lanes: int) -> bytes:
        return message(wire.SEEN, payload, 0) + message(wire.ACTIONS, b"\x00" * 8 * lanes, lanes)

    limits = Limits(step_seconds=60.0)
    forgers = Forgers(answer, random.Random(0), limits, truths=(10**9,))
    progress = Progress([Trial(0, horizon=2)], stop_on_failure=True, output_bytes=100)
    runner = Runner(forgers.guests(), limits, "", gate=True)
    rollout = runner.run([PictureEnv()], progress, record="seen", clip_actions=False)
    assert rollout.failure is not None
    assert rollout.failure.kind == "crashed"


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()


@pytest.mark.slow
@given(st.recursive(LEAVES, lambda s: st.lists(s) | st.dictionaries(st.text() | st.integers(), s)))
def test_selecting_plain_values_is_idempotent(value: Any) -> None:
    """For any value that a policy may return."""
    kept = seen.select_plain(value)
    assert type(kept) is dict
    encode(kept)
    assert repr(seen.select_plain(kept)) == repr(kept)
