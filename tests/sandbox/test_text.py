"""Cleaned text: nothing in it steers a terminal or breaks a line, and text that was clean stays as it is."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo_sandbox import Failure, Sandbox, Trial
from promptpo_sandbox.text import clean, clean_answer, clean_name
from tests.sandbox.environments import WalkEnv

ANYTHING = st.text(st.characters() | st.characters(categories=["Cc", "Cs", "Cf", "Zl", "Zp"]))


@given(ANYTHING)
def test_nothing_raw_is_left(text: str) -> None:
    """No control character but tab and newline, no lone surrogate, no line separator; it can be encoded."""
    cleaned = clean(text)
    cleaned.encode()
    for character in cleaned:
        assert character in "\t\n" or unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
    assert cleaned.splitlines() == cleaned.removesuffix("\n").split("\n") or not cleaned


@given(ANYTHING)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    """Escapes are plain text."""
    assert clean(clean(text)) == clean(text)


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]) | st.sampled_from("\n\t")))
def test_what_is_plainly_visible_stays(text: str) -> None:
    """Letters, numbers, signs and spaces of any language."""
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a\\rb"),
        ("\ud800", "\\ud800"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202eevil", "\\u202eevil"),
        ("\u2028", "\\u2028"),
        ("\U000e0041", "\\U000e0041"),
        ("größer 好 🙂", "größer 好 🙂"),
    ],
)
def test_escapes_are_those_of_python(text: str, cleaned: str) -> None:
    """What was there can be read."""
    assert clean(text) == cleaned


def test_a_failure_is_clean_wherever_it_was_made() -> None:
    """Message and detail."""
    failure = Failure("crashed", "a\x1b[2J", "b\ud800")
    assert (failure.message, failure.detail) == ("a\\x1b[2J", "b\\ud800")


RAW = "\\x1b]0;owned\\x07\\ud800\\r"


@pytest.mark.parametrize(
    "source",
    [
        f"class Policy:\n    def act(self, obs):\n        print('{RAW}')\n        raise ValueError('{RAW}')\n",
        f"class Policy:\n    def __init__(self):\n        print('{RAW}')\n        raise ValueError('{RAW}')\n    def act(self, obs):\n        return 0\n",
        f"class Odd(Exception):\n    pass\nOdd.__name__ = '{RAW}'\nclass Policy:\n    def act(self, obs):\n        raise Odd\n",
        f"class Policy:\n    def act(self, obs):\n        return '{RAW}'\n",
        "x = '\x1b]0;owned\x07' +\n",
        "class Policy:\n    def act(self, obs):\n        raise ValueError  # \x1b\x07\n",
    ],
)
def test_nothing_raw_leaves_the_sandbox(box: Sandbox, source: str) -> None:
    """Neither in a failure nor in what was printed."""
    rollout = box.rollout(source, [WalkEnv()], [Trial(0)])
    assert rollout.failure is not None
    for text in (rollout.failure.message, rollout.failure.detail, rollout.output):
        assert clean(text) == text
        json.dumps(text, ensure_ascii=False).encode()


def test_a_calls_text_is_clean(box: Sandbox) -> None:
    """Its value, its failure and its prints."""
    source = f"def told(n):\n    print('{RAW}')\n    return '{RAW}' if n else 1 / n\n"
    result = box.call(source, "told", 1)
    assert result.value is not None
    assert result.value.startswith("\\x1b]0;owned\\x07")
    assert clean(result.output) == result.output


@pytest.mark.parametrize(
    "character",
    ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u3164", "\U000e0100", "\u202e", "\u2066"],
)
def test_characters_that_hide_are_written_out(character: str) -> None:
    """What nobody sees stands there as its escape, which in a string of a program means the same."""
    written = clean(f"a{character}b")
    assert character not in written
    assert written.isascii()
    assert eval(f"'{written}'") == f"a{character}b"  # noqa: S307 - what a program would read
    assert character not in clean_name(f"a{character}b")


def test_a_mark_at_the_start_is_no_part_of_an_answer() -> None:
    """Some editors begin a file with one; others stand between."""
    assert clean_answer("\ufeffx\u200b = \u20601") == "x = 1"
