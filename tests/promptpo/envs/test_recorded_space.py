"""Recorded action spaces export the same policy file as the originals."""

import ast
import json
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from promptpo.envs.spaces import space_as_json
from promptpo.envs.task import Task
from promptpo.output.exporting import Provenance, export_text

POLICY = "class Policy:\n    def act(self, obs):\n        return 0\n"
ORIGIN = Provenance(Task("CartPole-v1"), "m", "r", "c")
SPACES = [
    spaces.Discrete(3, start=-1),
    spaces.Box(-1, 1, (6,), np.float32),
    spaces.Box(np.array([-1.0, -np.inf]), np.array([0.1, np.inf]), dtype=np.float64),
    spaces.Box(0, 255, (2, 2), np.uint8),
    spaces.Box(-1, 1, (), np.float32),
    spaces.Box(-1, 1, (0,), np.float32),
    spaces.MultiDiscrete([2, 3], start=[1, -1]),
    spaces.MultiDiscrete([[2, 3], [4, 5]]),
    spaces.MultiBinary([2, 2]),
    spaces.Dict(a=spaces.Discrete(2)),
    spaces.Text(5),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_recorded_space_exports_the_same_file(space: Any) -> None:
    recorded = json.loads(json.dumps(space_as_json(space)))
    assert export_text(POLICY, ORIGIN, action_space=recorded) == export_text(
        POLICY, ORIGIN, action_space=space
    )


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.just("odd") | st.text(),
                    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["low", "high", "n"]), inner)),
       st.sampled_from([space_as_json(space) for space in SPACES]), st.sampled_from(["kind", "dtype", "shape", "low", "high", "n", "start", "nvec"]))  # fmt: skip
def test_untrusted_record_gives_a_valid_file_or_an_error(value: Any, record: Any, name: Any) -> None:
    """No value other than a number gets into the code."""
    try:
        text = export_text(POLICY, ORIGIN, action_space={**record, name: value})
    except (ValueError, TypeError, OverflowError, LookupError):
        return  # the error for any damaged file
    compile(text, "policy.py", "exec")
    for node in ast.walk(ast.parse(text)):
        assert not isinstance(node, ast.Constant) or node.value != "odd"
