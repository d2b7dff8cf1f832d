"""Parameter vectors in the unit cube."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from promptpo.features.tuning.space import ParamSpace

SPACE = ParamSpace({"a": (0.0, -2.0, 2.0), "b": (1.0, 0.1, 100.0), "fixed": (3.0, 3.0, 3.0)})


def test_linear_and_log_scales() -> None:
    """The middle of the cube is the arithmetic or geometric mean of the range."""
    middle = SPACE.decode(np.array([0.5, 0.5]))
    assert middle["a"] == 0.0
    assert middle["b"] == np.sqrt(10).round(5)
    assert middle["fixed"] == 3.0


@given(st.floats(0, 1), st.floats(0, 1))
def test_encoding_inverts_decoding(a: Any, b: Any) -> None:
    """Sources keep six digits."""
    unit = np.array([a, b])
    np.testing.assert_allclose(SPACE.encode(SPACE.decode(unit)), unit, atol=1e-5)


@given(st.floats(-9, 9), st.floats(-9, 9))
def test_decoded_values_are_within_bounds(a: Any, b: Any) -> None:
    """The optimiser may propose any vector."""
    values = SPACE.decode(np.array([a, b]))
    assert -2.0 <= values["a"] <= 2.0
    assert 0.1 <= values["b"] <= 100.0


def test_values_at_bounds_are_named() -> None:
    assert SPACE.bounds_of({**SPACE.defaults, "b": 100.0})["b"] == "upper"
    assert SPACE.bounds_of({**SPACE.defaults, "b": 0.1})["b"] == "lower"
    assert SPACE.bounds_of({**SPACE.defaults, "a": 1.0})["a"] == ""
