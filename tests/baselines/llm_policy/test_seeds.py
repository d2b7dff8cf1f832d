"""Which runs the flag for seeds names."""

from __future__ import annotations

import pytest

from promptpo.errors import UsageError
from promptpo_baselines.llm_policy.cli import _seeds


@pytest.mark.parametrize(
    ("text", "expected"), [("3", [0, 1, 2]), ("543,100", [543, 100]), ("543,", [543]), ("0,", [0])]
)
def test_a_number_counts_and_a_list_names(text: str, expected: list[int]) -> None:
    """One number is how many; with a comma each is a seed, one alone too."""
    assert _seeds(text) == expected


@pytest.mark.parametrize("text", ["0", "", ",", "a", "5,5", "1,,2", "-1,"])
def test_what_names_no_seeds_is_refused(text: str) -> None:
    """With one sentence."""
    with pytest.raises(UsageError, match="--seeds takes"):
        _seeds(text)
