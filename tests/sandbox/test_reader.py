"""The reader answers, ends and is confined, and each of its failures gives one sentence."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from promptpo_sandbox import Limits, check_source
from promptpo_sandbox.reader import GATE, Reader, UnreadableError

MISBEHAVING = "tests.sandbox.misbehaving"


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    """A reader that can call functions which misbehave, with more time than any of them needs."""
    yield from open_reader(call_seconds=20)


def open_reader(*, call_seconds: float) -> Iterator[Reader]:
    """Yield a reader with little memory; close it afterwards."""
    reader = Reader(Limits(call_seconds=call_seconds, memory_bytes=1 << 27))
    reader.know(MISBEHAVING, str(Path(__file__).parents[1]))
    yield reader
    reader.close()


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("hoard", "more memory"),
        ("die", "cannot be read"),
        ("recurse", "cannot be read"),
        ("flood", "cannot be read"),
        ("odd", "cannot be read"),
        ("look", "cannot be read"),
    ],
)
def test_failed_read_gets_one_sentence_and_the_next_succeeds(
    reader: Reader, function: str, words: str
) -> None:
    with pytest.raises(UnreadableError, match=words):
        reader.read(MISBEHAVING, function, "/etc/passwd")
    assert reader.read(MISBEHAVING, "good", "text") == ("TEXT", {"a": 1.5})


def test_read_that_hangs_ends_at_the_time_limit() -> None:
    for reader in open_reader(call_seconds=1):
        began = time.monotonic()
        with pytest.raises(UnreadableError, match="longer than 1 s"):
            reader.read(MISBEHAVING, "hang", "text")
        assert time.monotonic() - began < 20
        assert reader.read(MISBEHAVING, "good", "text") == ("TEXT", {"a": 1.5})


def test_reader_serves_many_threads(reader: Reader) -> None:
    """Each gets the answers to its own questions."""
    wrong: list[str] = []

    def ask(name: str) -> None:
        texts = [f"{name}{n}" for n in range(30)]
        wrong.extend(text for text in texts if reader.read(MISBEHAVING, "good", text)[0] != text.upper())

    threads = [threading.Thread(target=ask, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_forked_process_has_a_reader_of_its_own(reader: Reader) -> None:
    assert reader.read(MISBEHAVING, "good", "here")[0] == "HERE"
    child = os.fork()
    if child == 0:
        os._exit(0 if reader.read(MISBEHAVING, "good", "there")[0] == "THERE" else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert reader.read(MISBEHAVING, "good", "here")[0] == "HERE"


def test_unknown_module_is_unreadable(reader: Reader) -> None:
    with pytest.raises(UnreadableError):
        reader.read("os.nothing", "system", "true")
    assert reader.read(GATE, "reasons", "x = 1") is None


CHAIN = "B0 = {}\n" + "".join(f"B{i} = {{**B{i - 1}, **B{i - 1}}}\n" for i in range(1, 41))

HARD_SOURCES = {
    "a dict of itself": "A = {**A}\nPARAMS = {**A}\n",
    "dicts that double": f"{CHAIN}PARAMS = B40\n",
    "many arrays": "PARAMS = {" + "".join(f"'w{i}': ([0.0] * 1000, -1, 1)," for i in range(2300)) + "}\n",
    "the same again": "X = {"
    + "".join(f"'a{i}': 1," for i in range(4000))
    + "}\nPARAMS = {}\n"
    + "PARAMS.update(X)\n" * 1500,
    "many calls": "x = 1\n" + "print(type(x))\n" * 6500,
    "brackets": "(" * 200 + ")" * 200,
    "minus": "x = " + "- " * 90 + "1\n",
    "a long sum": "x = 1" + " + 1" * 20_000 + "\n",
    "attributes": "x" + ".a" * 20_000 + "\n",
    "comparisons": "x = 1" + " < 1" * 20_000 + "\n",
    "a large power": "x = 9 ** 9 ** 9 ** 9\nPARAMS = {'a': 9 ** 9 ** 9}\n",
    "digits": f"PARAMS = {{'a': {'9' * 90_000}}}\n",
    "else": "".join(f"{'el' if i else ''}if x == {i}:\n    pass\n" for i in range(4000)),
    "indentation": "".join(f"{' ' * i}if x:\n" for i in range(99)) + " " * 99 + "pass\n",
    "format strings": "x = f'" + "{x!r:>{x}}" * 8000 + "'\n",
    "lambdas": "x = " + "lambda: " * 90 + "1\n",
    "decorators": "@a\n" * 20_000 + "def f(): pass\n",
    "targets": "a = " * 20_000 + "1\n",
}


@pytest.mark.parametrize("name", HARD_SOURCES)
def test_gate_ends_on_hard_sources(name: str) -> None:
    """Within seconds, by itself or by its limits."""
    began = time.monotonic()
    failure = check_source(HARD_SOURCES[name])
    assert time.monotonic() - began < 60  # the limit is 5 s of CPU time, and the machine may be busy
    assert failure is None or (failure.kind == "rejected" and "\n" not in failure.message)


def test_interrupted_question_leaves_no_answer_behind(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next question gets its own answer."""
    from promptpo_sandbox.pipes import Guest

    def stop(*_: object) -> None:
        time.sleep(0.2)  # meanwhile the answer arrives
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Guest, "answers", stop)
        with pytest.raises(KeyboardInterrupt):
            reader.read(MISBEHAVING, "good", "first")
    assert reader.read(MISBEHAVING, "good", "second")[0] == "SECOND"
