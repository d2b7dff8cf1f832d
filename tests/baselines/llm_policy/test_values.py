"""Numbers as text, sizes of networks, and designs."""

import math
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo_baselines.llm_policy.design import Design
from promptpo_baselines.llm_policy.numbers import longest, write
from promptpo_baselines.llm_policy.sizes import head_parameters, matching_width


def test_numbers_are_written_as_documented() -> None:
    """The three formats write the same numbers."""
    values = [-0.534, 0.0, 12.0, -0.001]
    assert write(values, "decimal") == "-0.53 0.00 9.99 0.00"
    assert write(values, "integer") == "-5 0 100 0"
    assert write(values, "raw") == "-0.534 0.0 12.0 -0.001"


@pytest.mark.slow
@given(st.lists(st.floats(), min_size=1, max_size=8), st.sampled_from(["decimal", "integer"]))
def test_any_numbers_become_short_finite_text(values: Any, numbers: Any) -> None:
    """NaN and infinities are included; no text is longer than the longest."""
    text = write(values, numbers)
    assert len(text) <= len(longest(len(values), numbers))
    assert all(math.isfinite(float(word)) for word in text.split(" "))
    assert len(text.split(" ")) == len(values)


@given(st.floats(-9.99, 9.99))
def test_written_numbers_are_accurate(value: Any) -> None:
    """Decimal to a hundredth, integer to a tenth."""
    assert float(write([value], "decimal")) == pytest.approx(value, abs=0.00501)
    assert int(write([value], "integer")) / 10 == pytest.approx(value, abs=0.0501)


@given(st.integers(100, 10_000_000), st.integers(1, 400), st.integers(1, 30))
def test_width_of_the_matching_mlp_is_optimal(parameters: Any, inputs: Any, outputs: Any) -> None:
    """One more or one less is never nearer to the number of parameters."""
    width = matching_width(parameters, inputs, outputs)

    def off(w: Any) -> Any:
        return abs(head_parameters(inputs, (w, w), outputs) - parameters)

    assert off(width) <= off(width + 1)
    assert width == 1 or off(width) <= off(width - 1)


def test_design_can_be_restored_from_a_dict() -> None:
    """Settings and saved agents store it as one."""
    design = Design(tune="lora", layers=3)
    assert Design(**asdict(design)) == design
