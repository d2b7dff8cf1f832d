"""A model that answers by hand: files in a directory, for as long as it takes."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from promptpo.errors import FatalProviderError, ProviderError, UsageError
from promptpo.llm import inbox
from promptpo.llm.base import Message
from promptpo.llm.choose import describe_choice, make_llm
from promptpo.llm.inbox import InboxLLM, has_live_run, put_answer, questions, waiting
from promptpo.llm.prices import Price
from tests.promptpo.llm.asking import REQUEST, ask, check_contract
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from promptpo.llm.base import Completion, Request


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An inbox in which an answer settles quickly."""
    monkeypatch.setattr(inbox, "SETTLE_SECONDS", 0.1)
    monkeypatch.setattr(inbox, "POLL_SECONDS", 0.02)
    return tmp_path / "box"


@pytest.fixture
def answerer(box: Path) -> Iterator[Callable[[], None]]:
    """Starts somebody who answers every question with its own number."""
    done = threading.Event()

    def work() -> None:
        while not done.wait(0.02):
            if box.exists():
                for question in waiting(box):
                    put_answer(box, question.number, f"answer {question.number}")

    thread = threading.Thread(target=work)
    yield thread.start
    done.set()
    if thread.is_alive():
        thread.join()


def call(key: str, **changes: object) -> Request:
    """A request under this key."""
    return replace(REQUEST, key=key, **changes)  # fields of Request


def answered_later(llm: InboxLLM, request: Request, answer: Callable[[], None]) -> Completion:
    """What a request gives when something is done after its question is there."""

    def work() -> None:
        wait_until((llm._directory / "0001.md").exists)
        answer()

    thread = threading.Thread(target=work)
    thread.start()
    [completion] = ask(llm, request)
    thread.join()
    return completion


def test_conformance(box: Path, answerer: Callable[[], None]) -> None:
    """It does all that the optimizer needs, several open at once and a cancelled one included."""
    answerer()
    asyncio.run(check_contract(InboxLLM(box)))


def test_the_question_is_the_whole_prompt(box: Path) -> None:
    """One text, to be pasted as it is; nothing about the run in it."""
    turns = (Message("user", "one"), Message("assistant", "two"), Message("user", "three"))
    llm = InboxLLM(box, run="/home/me/run")
    completion = answered_later(
        llm, call("r1.c1", messages=turns), lambda: put_answer(box, 1, "done\n") and None
    )
    assert completion.text == "done\n"
    assert completion.model == "inbox"
    assert completion.usage.estimated_tokens == completion.usage.total > 0
    assert completion.cost_usd is None
    text = (box / "0001.md").read_text(encoding="utf-8")
    assert text == "You write policies.\n\n[user]\none\n\n[assistant]\ntwo\n\n[user]\nthree\n"


def test_a_slow_writer_is_waited_for(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that grows, or is empty, is no answer yet."""
    now = [0.0]
    clock = SimpleNamespace(monotonic=lambda: now[0], time=time.time)
    monkeypatch.setattr(inbox, "time", clock)

    def slowly() -> None:
        (box / "0001.answer.md").write_text("\n", encoding="utf-8")
        now[0] += 10.0
        time.sleep(0.2)  # it is looked at meanwhile
        for n in range(8):
            with (box / "0001.answer.md").open("a", encoding="utf-8") as file:
                file.write(f"line {n}\n")
            time.sleep(0.03)
        clock.monotonic = time.monotonic

    assert answered_later(InboxLLM(box), call("r1.c1"), slowly).text.endswith("line 7\n")


def test_any_bytes_are_an_answer(box: Path) -> None:
    """A mark at the start and bytes that are no text, as editors and pipes leave them, do no harm."""
    completion = answered_later(
        InboxLLM(box),
        call("r1.c1"),
        lambda: (box / "0001.answer.md").write_bytes(b"\xef\xbb\xbfcode \xff") and None,
    )
    assert completion.text == "code \\xff"


def test_nothing_is_asked_twice(box: Path) -> None:
    """A new process with the same run finds its questions, and answers that came in between."""

    async def give_up() -> None:
        llm = InboxLLM(box, run="a")
        tasks = [asyncio.ensure_future(llm.complete(call(f"r1.c{n}"))) for n in (1, 2)]
        await asyncio.to_thread(wait_until, lambda: box.exists() and len(waiting(box)) == 2)
        assert has_live_run(box)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await llm.aclose()

    asyncio.run(give_up())
    assert not has_live_run(box)
    assert [(item.number, item.call) for item in waiting(box)] == [(1, "r1.c1"), (2, "r1.c2")]
    put_answer(box, 2, "came while nobody ran")
    put_answer(box, 1, "this too")
    both = ask(InboxLLM(box, run="a"), call("r1.c1"), call("r1.c2"))
    assert [item.text for item in both] == ["this too", "came while nobody ran"]
    assert len(list(questions(box))) == 2


def test_runs_and_prompts_are_told_apart(box: Path, answerer: Callable[[], None]) -> None:
    """The same call of another run, or with another prompt, is a question of its own."""
    answerer()
    [first] = ask(InboxLLM(box, run="a"), call("r1.c1"))
    [other_run] = ask(InboxLLM(box, run="b"), call("r1.c1"))
    [other_prompt] = ask(InboxLLM(box, run="a"), call("r1.c1", system="Another."))
    [again] = ask(InboxLLM(box, run="a"), call("r1.c1"))
    assert [item.text for item in (first, other_run, other_prompt, again)] == [
        "answer 1", "answer 2", "answer 3", "answer 1",
    ]  # fmt: skip


def test_what_a_kill_leaves_behind(box: Path, answerer: Callable[[], None]) -> None:
    """A torn note is no question and its number stays taken; a note without its text gets it."""
    answerer()
    box.mkdir()
    (box / ".0007.json").write_text('{"run": "a", "ca', encoding="utf-8")
    [completion] = ask(InboxLLM(box, run="a"), call("r1.c1"))
    assert completion.text == "answer 8"
    (box / "0008.md").unlink()
    (box / "0008.answer.md").unlink()
    assert ask(InboxLLM(box, run="a"), call("r1.c1"))[0].text == "answer 8"
    assert (box / "0008.md").exists()


def test_a_question_taken_away(box: Path) -> None:
    """Taking it away refuses this call; taking the directory away ends them all."""
    import shutil

    with pytest.raises(ProviderError, match="was deleted") as caught:
        answered_later(InboxLLM(box), call("r1.c1"), (box / "0001.md").unlink)
    assert not isinstance(caught.value, FatalProviderError)
    with pytest.raises(FatalProviderError, match="cannot use the inbox"):
        answered_later(InboxLLM(box), call("r1.c1"), lambda: shutil.rmtree(box))


def test_many_processes_share_a_directory(box: Path, answerer: Callable[[], None]) -> None:
    """Eight runs at once: every call has a number of its own."""
    answerer()
    found: list[str] = []

    def one(run: str) -> None:
        found.extend(item.text for item in ask(InboxLLM(box, run=run), *(call(f"c{n}") for n in range(4))))

    threads = [threading.Thread(target=one, args=(f"run {n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(f"answer {n}" for n in range(1, 33))


def test_answers_that_do_not_fit(box: Path) -> None:
    """Only what waits can be answered, and only with something."""
    with pytest.raises(UsageError, match="there is no inbox"):
        waiting(box)
    asyncio.run(_ask_and_leave(InboxLLM(box)))
    with pytest.raises(UsageError, match=r"no open request 2; .*1"):
        put_answer(box, 2, "x")
    with pytest.raises(UsageError, match="empty"):
        put_answer(box, 1, " \n")


async def _ask_and_leave(llm: InboxLLM) -> None:
    task = asyncio.ensure_future(llm.complete(REQUEST))
    await asyncio.to_thread(wait_until, (llm._directory / "0001.md").exists)
    task.cancel()
    await asyncio.wait([task])
    await llm.aclose()


def test_a_price_and_a_name(box: Path, answerer: Callable[[], None]) -> None:
    """The name has the whole path, so that a run resumes from anywhere; a stated price is used."""
    answerer()
    llm = make_llm(f"inbox:{box}", run="a", price=(4.0, 0.0))
    assert llm.name == f"inbox:{box}"
    assert f"promptpo inbox {box}" in describe_choice(llm.name, llm)
    [completion] = ask(llm)
    assert completion.cost_usd == Price(4.0, 0.0).cost(completion.usage) > 0  # known
    file = box / "0001.md"
    with pytest.raises(UsageError, match="not a directory"):
        InboxLLM(file)


def test_boxes_in_subdirectories_are_listed(box: Path) -> None:
    """Several runs may each have an inbox below one directory; an answer goes to the box that it is for."""
    done: list[Completion] = []
    llms = [InboxLLM(box / name, run=name) for name in ("a", "b")]
    threads = [threading.Thread(target=lambda llm=llm: done.extend(ask(llm, call("k")))) for llm in llms]
    for thread in threads:
        thread.start()
    wait_until(lambda: box.exists() and len(waiting(box)) == 2)
    assert has_live_run(box)
    assert [question.directory.name for question in waiting(box)] == ["a", "b"]
    with pytest.raises(UsageError, match="no open request 1"):
        put_answer(box, 1, "for whom?")
    for name in ("a", "b"):
        put_answer(box / name, 1, name)
    for thread in threads:
        thread.join()
    assert sorted(completion.text for completion in done) == ["a", "b"]
