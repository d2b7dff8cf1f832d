"""Values that policies keep in `self.debug` for readers of their episodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo_sandbox import Sandbox, Trial
from promptpo_sandbox.guest.debug import MAX_ITEMS, MAX_WORD, plain
from promptpo_sandbox.guest.plain import encode
from promptpo_sandbox.guest.wire import MAX_DEBUG_BYTES
from tests.sandbox.environments import WalkEnv

KEEPING = """
import numpy as np


class Policy:
    def __init__(self):
        self.n = 0

    def act(self, obs):
        self.n += 1
        if self.n != 3:
            self.debug = {"n": self.n, "lean": obs[0], "mode": "go", "list": [1, 2]}
        else:
            self.debug = None
        return np.zeros(2)
"""

PROPERTY = """
import numpy as np


class Policy:
    @property
    def debug(self):
        BODY

    def act(self, obs):
        return np.zeros(2)
"""


def test_debug_values_are_recorded_with_each_step(box: Sandbox) -> None:
    """Every lane has its own values, and the rollout does not change."""
    trials = [Trial(seed, horizon=5) for seed in range(3)]
    recorded = box.rollout(KEEPING, [WalkEnv(), WalkEnv()], trials, record=True)
    assert recorded.failure is None
    for episode in recorded.episodes:
        trajectory = episode.trajectory
        assert trajectory is not None
        assert len(trajectory.debug) == len(trajectory.actions) == episode.steps
        assert [kept.get("n") for kept in trajectory.debug] == [1, 2, None, 4, 5][: episode.steps]
        assert trajectory.debug[0]["mode"] == "go"
        assert trajectory.debug[0]["lean"] == pytest.approx(float(trajectory.observations[0][0]))
        assert "list" not in trajectory.debug[0]
    unrecorded = box.rollout(KEEPING, [WalkEnv()], trials)
    assert [e.return_ for e in unrecorded.episodes] == [e.return_ for e in recorded.episodes]


@pytest.mark.parametrize("body", ["return 1 / 0", "return {'n': 1}", "while True:\n            pass"])
def test_recording_runs_no_code_of_the_policy(box: Sandbox, body: str) -> None:
    """A `debug` property is not evaluated."""
    rollout = box.rollout(PROPERTY.replace("BODY", body), [WalkEnv()], [Trial(0, horizon=4)], record=True)
    assert rollout.failure is None
    trajectory = rollout.episodes[0].trajectory
    assert trajectory is not None
    assert trajectory.debug == ()


def test_debug_that_is_no_dict_is_not_recorded(box: Sandbox) -> None:
    for text in (
        KEEPING.replace("self.debug", "self.kept"),
        KEEPING.replace("self.debug = {", "self.debug = [")
        .replace('"list": [1, 2]}', "2]")
        .replace('"n": self.n, "lean": obs[0], "mode": "go", ', ""),
    ):
        rollout = box.rollout(text, [WalkEnv()], [Trial(0, horizon=4)], record=True)
        assert rollout.failure is None
        trajectory = rollout.episodes[0].trajectory
        assert trajectory is not None
        assert trajectory.debug == ()


class Word(str):
    """A str subclass."""

    __slots__ = ()


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"a": 1, "b": 2.5, "c": True, "d": "x"}, {"a": 1, "b": 2.5, "c": True, "d": "x"}),
        ({"a": np.float32(0.5), "b": np.array([3]), "c": np.zeros(2)}, {"a": 0.5, "b": 3}),
        ({"a\x1b": "y\nz"}, {"a\\x1b": "y z"}),
        ({1: 2, "a": Word("x"), "b": 10**400, "c": {"d": 1}}, {}),
        ([("a", 1)], {}),
    ],
)
def test_only_plain_numbers_and_words_are_recorded(value: Any, kept: Any) -> None:
    """Other entries are left out, and control characters are escaped."""
    assert plain(value) == kept


@given(st.dictionaries(st.text(), st.integers() | st.floats() | st.text(), max_size=30))
def test_debug_values_are_bounded(value: Any) -> None:
    """There are limits on entries, characters and the bytes of their message."""
    kept = plain(value)
    assert len(kept) <= MAX_ITEMS
    assert all(len(item) <= 10 * MAX_WORD for item in kept.values() if isinstance(item, str))
    assert len(encode(kept)) <= 3 * MAX_DEBUG_BYTES
