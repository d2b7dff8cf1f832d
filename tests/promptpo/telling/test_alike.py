"""Lines of one form as tables."""

import re

from hypothesis import given
from hypothesis import strategies as st

from promptpo.telling.alike import AGAIN, HEAD, told_once


def test_lines_of_one_form_are_told_as_a_table() -> None:
    """The form once, with blanks where they differ; what else there is stays as it is."""
    rows = (("hip", "+0.30", 2), ("knee", "-0.10", 3), ("foot", "-0.00", 4))
    lines = [f"{joint} +1: angle {angle} rad, then speed {speed} m/s" for joint, angle, speed in rows]
    text = "\n".join(["at rest: 0.1", *lines, "done"])
    assert told_once(text).splitlines() == [
        "at rest: 0.1",
        f"{HEAD}_ +1: angle _ rad, then speed _ m/s",
        "hip 0.30 2",
        "knee -0.10 3",
        "foot 0 4",
        "done",
    ]


def test_a_form_is_told_once() -> None:
    """A second episode of the same kind goes on with its rows."""
    rows = [f"step {n}: the height is {n * n}" for n in range(9)]
    told = told_once("\n".join(["Episode 1:", *rows, "Episode 2:", *rows]))
    assert told.count("the height is") == 1
    assert told.count(AGAIN) == 1


@given(st.lists(st.text("ab 1.5-+_:,\u00e9", max_size=12), max_size=12))
def test_no_word_and_no_number_is_lost(lines: list[str]) -> None:
    """Whatever a report looks like, and it never grows."""
    text = "\n".join(lines)
    told = told_once(text)
    assert len(told) <= len(text)
    if HEAD not in told:
        assert told == text
    for value in re.findall(r"[1-9]+", text):
        assert value in told
