"""Foreign text is whole when it enters, and a line of it is harmless on a terminal."""

from __future__ import annotations

import ast
import asyncio
import json

from hypothesis import given
from hypothesis import strategies as st

from promptpo.llm.base import Completion
from promptpo.llm.scripted import ScriptedLLM
from promptpo_sandbox.text import clean, clean_name

ANY = st.text(st.characters())
"""With lone surrogates, which `st.text()` leaves out."""


@given(text=ANY)
def test_an_answer_can_always_be_written(text: str) -> None:
    """What is not plainly visible is written out or dropped; line ends are those of Python."""
    cleaned = Completion(text, "m").text
    assert cleaned.encode().decode() == cleaned
    assert clean(cleaned) == cleaned
    assert "\r" not in cleaned


def test_what_is_not_seen_is_dropped_from_a_program() -> None:
    """Marks of no width, colours and odd line ends do not break the code that they stand in; control characters stay, written out."""
    source = "\ufeffX\u200b = 'a\x1b[31m\u202e\x07'\u2028\r\nY = 1\f\r\n"
    written = Completion(source, "m").text
    assert written.isascii()
    assert ast.literal_eval(ast.parse(written).body[0].value) == "a\x07"  # an assignment


@given(text=ANY)
def test_one_visible_line(text: str) -> None:
    """Nothing in it moves a cursor, sets a title or turns the writing direction."""
    line = clean_name(text)
    assert line.isprintable()
    assert line.encode().decode() == clean_name(line)


def test_what_a_name_shows() -> None:
    """An escape sequence is written out; letters of all scripts are left alone."""
    assert clean_name("a\x1b]0;pwned\x07\n b  ü 猫\ud800") == r"a\x1b]0;pwned\x07 b ü 猫\ud800"


def test_every_provider_is_covered() -> None:
    """The name that a service gives its model cannot forge a line, whichever provider passes it on."""
    llm = ScriptedLLM([Completion("x\udc80", "m\n\x1b[31mResult: 500")])

    async def answer() -> Completion:
        return await llm.complete(None)  # it only notes it

    completion = asyncio.run(answer())
    assert (completion.text, completion.model) == (r"x\udc80", r"m \x1b[31mResult: 500")
    assert json.dumps(completion.text, ensure_ascii=False).encode()
