"""Cleaned text cannot control a terminal or break a line, and clean text is unchanged."""

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
def test_cleaned_text_has_no_control_characters(text: str) -> None:
    """Except tab and newline; it can be encoded and has no other line separators."""
    cleaned = clean(text)
    cleaned.encode()
    for character in cleaned:
        assert character in "\t\n" or unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
    assert cleaned.splitlines() == cleaned.removesuffix("\n").split("\n") or not cleaned


@given(ANYTHING)
def test_cleaning_is_idempotent(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]) | st.sampled_from("\n\t")))
def test_visible_text_is_unchanged(text: str) -> None:
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
def test_escapes_are_pythons(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_failure_cleans_its_message_and_detail() -> None:
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
def test_failures_and_output_of_the_sandbox_are_clean(box: Sandbox, source: str) -> None:
    rollout = box.rollout(source, [WalkEnv()], [Trial(0)])
    assert rollout.failure is not None
    for text in (rollout.failure.message, rollout.failure.detail, rollout.output):
        assert clean(text) == text
        json.dumps(text, ensure_ascii=False).encode()


def test_value_and_output_of_a_call_are_clean(box: Sandbox) -> None:
    source = f"def told(n):\n    print('{RAW}')\n    return '{RAW}' if n else 1 / n\n"
    result = box.call(source, "told", 1)
    assert result.value is not None
    assert result.value.startswith("\\x1b]0;owned\\x07")
    assert clean(result.output) == result.output


@pytest.mark.parametrize(
    "character",
    ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u3164", "\U000e0100", "\u202e", "\u2066"],
)
def test_invisible_characters_are_escaped(character: str) -> None:
    """The escape means the same inside a string of a program."""
    written = clean(f"a{character}b")
    assert character not in written
    assert written.isascii()
    assert eval(f"'{written}'") == f"a{character}b"  # noqa: S307 - what a program would read
    assert character not in clean_name(f"a{character}b")


def test_byte_order_mark_and_zero_width_marks_are_removed_from_answers() -> None:
    """Some editors begin a file with one."""
    assert clean_answer("\ufeffx\u200b = \u20601") == "x = 1"
