"""Text made shorter at whole items."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.telling.feedback import compact, without_nones
from promptpo.telling.shortening import at_items, last_sentences, sentences

JOINTS = "R-412 T1000\nbth -0.3..0.6 |u|0.68\nbsh -0.8..0.8 |u|0.72\nbft -0.4..0.6 |u|0.71\nfth 0.2..0.7"


@pytest.mark.parametrize(
    ("text", "most", "short"),
    [
        (JOINTS, 80, "R-412 T1000\nbth -0.3..0.6 |u|0.68\nbsh -0.8..0.8 |u|0.72\n(and 2 more lines)"),
        ("hip 0.1, knee 0.2, foot 0.3, toe 0.4, tail 0.5", 45, "hip 0.1, knee 0.2, and 3 more"),
        ("v 2.4; hip 0.1, knee 0.2; foot 0.3; toe 0.4", 40, "v 2.4; and 3 more"),
        ("short", 40, "short"),
    ],
)
def test_lists_end_after_an_item_and_say_how_many_follow(text: str, most: int, short: str) -> None:
    """Lines, then clauses, then entries."""
    assert at_items(text, most) == short


@given(st.text(), st.integers(30, 90))
def test_any_text_fits(text: Any, most: int) -> None:
    """Whatever a feedback class returns."""
    assert len(at_items(text, most)) <= most + 8


def test_little_more_is_told_rather_than_counted() -> None:
    """To say that a line is missing takes as much as the line."""
    lines = "\n".join(f"line {n}" for n in range(60))
    assert at_items(lines, len(lines) - 20) == lines
    assert at_items(lines, len(lines) - 120).endswith("more lines)")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("R 3; success=None; T 9", "R 3; T 9"),
        ("success: None\nT 9", "T 9"),
        ("success=None, T 9", "T 9"),
        ("None of it; x=Nonesuch", "None of it; x=Nonesuch"),
        ("key k=1 0:(4,1) 4:None", "key k=1 0:(4,1) 4:None"),  # at step 4 it was gone
    ],
)
def test_what_there_is_not_is_not_told(text: str, kept: str) -> None:
    """A quantity that is None is noise; the word elsewhere stays."""
    assert without_nones(text) == kept


def test_the_entries_of_an_array_are_whole() -> None:
    """As many as there is room for, and a count of the others."""
    import numpy as np

    assert compact(np.arange(30.0) + 0.123, 60).endswith("more]")
    assert "…" not in compact(np.linspace(-1000, 1000, 24), 100)


def test_a_range_is_no_end_of_a_sentence() -> None:
    """Its dots stand between two numbers."""
    text = "I slow the clock (pitch 0.4 .. 0.7) in which it is stuck. The reflexes stay."
    assert last_sentences(text, 60) == "The reflexes stay."
    assert sentences(text, 60) == "I slow the clock (pitch 0.4 .. 0.7) in which it is stuck."
