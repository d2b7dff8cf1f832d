"""The reader: it answers, it ends, it is confined, and its failures are one sentence each."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from promptpo_sandbox import Limits, check_source
from promptpo_sandbox.reader import GATE, Reader, UnreadableError

BADLY = "tests.sandbox.badly"


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    """One that can be asked for what reading must not do."""
    one = Reader(Limits(call_seconds=0.25, memory_bytes=1 << 27))
    one.know(BADLY, str(Path(__file__).parents[1]))
    yield one
    one.close()


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("hang", "longer than 0.25 s"),
        ("hoard", "more memory"),
        ("die", "cannot be read"),
        ("recurse", "cannot be read"),
        ("flood", "cannot be read"),
        ("odd", "cannot be read"),
        ("look", "cannot be read"),
    ],
)
def test_what_fails_is_one_sentence_and_the_next_is_read(reader: Reader, function: str, words: str) -> None:
    """Whatever reading does, the host is told within the limits, and reads on."""
    began = time.monotonic()
    with pytest.raises(UnreadableError, match=words):
        reader.read(BADLY, function, "/etc/passwd")
    assert time.monotonic() - began < 20
    assert reader.read(BADLY, "good", "text") == ("TEXT", {"a": 1.5})


def test_a_reader_serves_many_threads(reader: Reader) -> None:
    """Answers are those to one's own questions."""
    wrong: list[str] = []

    def ask(name: str) -> None:
        asked = [f"{name}{n}" for n in range(30)]
        wrong.extend(text for text in asked if reader.read(BADLY, "good", text)[0] != text.upper())

    threads = [threading.Thread(target=ask, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_fork_has_a_reader_of_its_own(reader: Reader) -> None:
    """What a forked process reads does not mix with what this one does."""
    assert reader.read(BADLY, "good", "here")[0] == "HERE"
    child = os.fork()
    if child == 0:
        os._exit(0 if reader.read(BADLY, "good", "there")[0] == "THERE" else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert reader.read(BADLY, "good", "here")[0] == "HERE"


def test_only_known_modules_are_asked(reader: Reader) -> None:
    """A reader has what it was given, and what it was not given is a failure like any other."""
    with pytest.raises(UnreadableError):
        reader.read("os.nothing", "system", "true")
    assert reader.read(GATE, "reasons", "x = 1") is None


CHAIN = "B0 = {}\n" + "".join(f"B{i} = {{**B{i - 1}, **B{i - 1}}}\n" for i in range(1, 41))

HARD = {
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


@pytest.mark.parametrize("name", HARD)
def test_the_gate_ends(name: str) -> None:
    """Sources that are built to be hard to read are judged in seconds, by the gate or by its limits."""
    began = time.monotonic()
    failure = check_source(HARD[name])
    assert time.monotonic() - began < 60  # wall time of a machine that may be busy; the limit is 5 s of work
    assert failure is None or (failure.kind == "rejected" and "\n" not in failure.message)


def test_an_interrupted_question_leaves_no_answer(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    """After Ctrl-C in the midst of a question the next one gets its own answer."""
    from promptpo_sandbox.pipes import Guest

    def stop(*_: object) -> None:
        time.sleep(0.2)  # the answer is on its way
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Guest, "answers", stop)
        with pytest.raises(KeyboardInterrupt):
            reader.read(BADLY, "good", "first")
    assert reader.read(BADLY, "good", "second")[0] == "SECOND"
