"""Parts of an answer besides the policy."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.program.answers import extract_program
from promptpo.prompts.replies import ceiling, legend
from promptpo.prompts.shortening import cut_between_words

CODE = "```python\nclass Policy:\n    def act(self, obs):\n        return 0  # CEILING: no\n```\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("CEILING: every episode earns the maximum of 500.", "every episode earns the maximum of 500."),
        ("I looked.\n\n**CEILING:** all keys are found at once", "all keys are found at once"),
        ("<think>CEILING: no</think>ceiling: optimal", "optimal"),
        ("CEILING: the motor\nis the limit\n\nThat is all.", "the motor is the limit"),
        (f"CEILING: {'it cannot be faster, ' * 60}ever", f"{'it cannot be faster, ' * 60}ever"),
        (CODE, ""),
        ("The ceiling is high.", ""),
        ("", ""),
    ],
)
def test_ceiling_is_a_whole_paragraph_outside_code(text: Any, reason: str) -> None:
    assert ceiling(extract_program(text).prose) == reason


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('LEGEND = "T = steps"\nclass Feedback:\n    "Says things."\n', "T = steps"),
        ('class Feedback:\n    LEGEND = ("a = b; "\n              "c = d")\n', "a = b; c = d"),
        ('class Feedback:\n    """T is time."""\n', "T is time."),
        ("LEGEND = 1 + 1\nclass Feedback:\n    pass\n", ""),
        ("class Feedback(:", ""),
    ],
)
def test_legend_is_read_without_running_the_class(source: str, text: str) -> None:
    """The LEGEND string, or else the class's docstring."""
    assert legend(source) == text


@given(st.text(), st.integers(8, 60))
def test_texts_are_cut_between_words(text: Any, most: Any) -> None:
    """Never longer than the limit, and within a word only if that is longer than the limit."""
    short = cut_between_words(text, most)
    assert len(short) <= most
    if short.endswith(" …") and len(text.strip()) > most and len(short[:-2].split()) > 1:
        assert set(short[:-2].split()[:-1]) <= set(text.split())


@given(st.text(alphabet="STRAEGY strategy12.:-*`~\n #CEILNG", max_size=200))
def test_any_answer_can_be_parsed(text: Any) -> None:
    assert "\n" not in ceiling(text)
