"""What answers hold besides a policy."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.telling.replies import ceiling, legend, strategies
from promptpo.telling.shortening import between_words

CODE = "```python\nclass Policy:\n    def act(self, obs):\n        return 0  # CEILING: no\n```\n"

FIVE = ("swing up by energy", "a table", "plan ahead", "lean and catch", "two phases")


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"STRATEGY {n}: {s}" for n, s in enumerate(FIVE, 1)) + "\n" + CODE,
        CODE + "\n".join(f"- **Strategy {n}** - {s}" for n, s in enumerate(FIVE, 1)),
        "I push.\n\nFive strategies that suit this task:\n\n"
        + "\n".join(f"{n}. {s}" for n, s in enumerate(FIVE, 1))
        + "\n\n"
        + CODE,
        "<think>STRATEGY 1: no\nSTRATEGY 2: never</think>\r\n"
        + "\r\n".join(f"strategy {n}) {s}" for n, s in enumerate(FIVE, 1)),
    ],
)
def test_strategies_are_found_however_they_are_listed(text: Any) -> None:
    """As asked, with marks of emphasis, below a heading, after thinking."""
    assert strategies(text) == FIVE


@pytest.mark.parametrize(
    "text", ["", CODE, "My strategy: push left.\n" + CODE, "Strategies matter.\nI push.\n"]
)
def test_an_answer_without_a_list_names_none(text: Any) -> None:
    """One sentence about the strategy is no list."""
    assert strategies(text) == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("CEILING: every episode earns the maximum of 500.", "every episode earns the maximum of 500."),
        ("I looked.\n\n**CEILING:** all keys are found at once", "all keys are found at once"),
        ("<think>CEILING: no</think>ceiling: optimal", "optimal"),
        (CODE, ""),
        ("The ceiling is high.", ""),
        ("", ""),
    ],
)
def test_the_word_that_the_task_is_solved(text: Any, reason: str) -> None:
    """One line of its own, outside code and thinking."""
    assert ceiling(text) == reason


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
def test_a_legend_is_read_and_never_run(source: str, text: str) -> None:
    """The string, or the class's documentation; nothing where neither is there."""
    assert legend(source) == text


@given(st.text(), st.integers(8, 60))
def test_texts_are_cut_between_words(text: Any, most: Any) -> None:
    """Never longer than asked, and a word is whole unless it is longer than all the room."""
    short = between_words(text, most)
    assert len(short) <= most
    if short.endswith(" …") and len(text.strip()) > most and len(short[:-2].split()) > 1:
        assert set(short[:-2].split()[:-1]) <= set(text.split())


@given(st.text(alphabet="STRAEGY strategy12.:-*`~\n #CEILNG", max_size=200))
def test_any_text_can_be_read(text: Any) -> None:
    """Answers are whatever a model writes."""
    assert len(strategies(text)) <= 5
    assert "\n" not in ceiling(text)
