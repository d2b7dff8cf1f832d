"""Foreign text is whole when it enters, and a line of it is harmless on a terminal."""

from __future__ import annotations

import asyncio
import json

from hypothesis import given
from hypothesis import strategies as st

from promptpo.llm.base import Completion
from promptpo.llm.scripted import ScriptedLLM
from sandbox.text import clean, clean_name

ANY = st.text(st.characters())
"""With lone surrogates, which `st.text()` leaves out."""


@given(text=ANY)
def test_an_answer_can_always_be_written(text: str) -> None:
    """Only lone surrogates are replaced, one character each; everything else stays as it came."""
    cleaned = Completion(text, "m").text
    assert len(cleaned) == len(text)
    assert cleaned.encode().decode() == cleaned
    assert all(a == b or "\ud800" <= b <= "\udfff" for a, b in zip(cleaned, text, strict=True))


@given(text=ANY)
def test_one_visible_line(text: str) -> None:
    """Nothing in it moves a cursor, sets a title or turns the writing direction."""
    line = clean_name(text)
    assert line.isprintable()
    assert line.encode().decode() == clean_name(line)


def test_what_visible_shows() -> None:
    """An escape sequence is written out; letters of all scripts are left alone."""
    assert clean_name("a\x1b]0;pwned\x07\n b  ü 猫\ud800") == r"a\x1b]0;pwned\x07 b ü 猫\ud800"
    assert clean("\ud83d\ude00 and \ud83d") == "\ufffd\ufffd and \ufffd"


def test_every_provider_is_covered() -> None:
    """The name that a service gives its model cannot forge a line, whichever provider passes it on."""
    llm = ScriptedLLM([Completion("x\udc80", "m\n\x1b[31mResult: 500")])

    async def answer() -> Completion:
        return await llm.complete(None)  # type: ignore[arg-type] # it only notes it

    completion = asyncio.run(answer())
    assert (completion.text, completion.model) == ("x\ufffd", r"m \x1b[31mResult: 500")
    assert json.dumps(completion.text, ensure_ascii=False).encode()
