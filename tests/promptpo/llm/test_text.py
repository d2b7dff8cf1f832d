"""Text from outside is made encodable, and one line of it is harmless on a terminal."""

from __future__ import annotations

import ast
import asyncio
import json

from hypothesis import given
from hypothesis import strategies as st

from promptpo.llm.base import Completion
from promptpo.llm.scripted import ScriptedLLM
from promptpo_sandbox.text import clean, clean_name

ANY_TEXT = st.text(st.characters())
"""Includes lone surrogates, which `st.text()` leaves out."""


@given(text=ANY_TEXT)
def test_cleaned_answer_can_be_encoded(text: str) -> None:
    """Invisible characters are escaped or dropped, and line ends are Python's."""
    cleaned = Completion(text, "m").text
    assert cleaned.encode().decode() == cleaned
    assert clean(cleaned) == cleaned
    assert "\r" not in cleaned


def test_invisible_characters_do_not_break_a_program() -> None:
    """Zero-width marks, colours and odd line ends are dropped; other control characters are escaped."""
    source = "\ufeffX\u200b = 'a\x1b[31m\u202e\x07'\u2028\r\nY = 1\f\r\n"
    written = Completion(source, "m").text
    assert written.isascii()
    assert ast.literal_eval(ast.parse(written).body[0].value) == "a\x07"  # an assignment


@given(text=ANY_TEXT)
def test_clean_name_is_one_printable_line(text: str) -> None:
    """It moves no cursor, sets no title and changes no writing direction."""
    line = clean_name(text)
    assert line.isprintable()
    assert line.encode().decode() == clean_name(line)


def test_clean_name_escapes_controls_and_keeps_letters() -> None:
    assert clean_name("a\x1b]0;pwned\x07\n b  ü 猫\ud800") == r"a\x1b]0;pwned\x07 b ü 猫\ud800"


def test_model_name_cannot_forge_a_line() -> None:
    """Completions clean it, whichever provider creates them."""
    llm = ScriptedLLM([Completion("x\udc80", "m\n\x1b[31mResult: 500")])

    async def answer() -> Completion:
        return await llm.complete(None)  # it only records the request

    completion = asyncio.run(answer())
    assert (completion.text, completion.model) == (r"x\udc80", r"m \x1b[31mResult: 500")
    assert json.dumps(completion.text, ensure_ascii=False).encode()
