"""A model answered by hand, through files in a directory, with no time limit."""

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
    """An inbox in which answers settle quickly."""
    monkeypatch.setattr(inbox, "SETTLE_SECONDS", 0.1)
    monkeypatch.setattr(inbox, "POLL_SECONDS", 0.02)
    return tmp_path / "box"


@pytest.fixture
def answerer(box: Path) -> Iterator[Callable[[], None]]:
    """A function that starts a thread which answers every question with its number."""
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
    """Return a request under this key."""
    return replace(REQUEST, key=key, **changes)  # fields of Request


def ask_then(llm: InboxLLM, request: Request, answer: Callable[[], None]) -> Completion:
    """Return a request's answer; `answer` runs once its question is there."""

    def work() -> None:
        wait_until((llm._directory / "0001.md").exists)
        answer()

    thread = threading.Thread(target=work)
    thread.start()
    [completion] = ask(llm, request)
    thread.join()
    return completion


def test_inbox_keeps_the_contract_of_providers(box: Path, answerer: Callable[[], None]) -> None:
    answerer()
    asyncio.run(check_contract(InboxLLM(box)))


def test_question_is_the_whole_prompt(box: Path) -> None:
    """One text to paste, with nothing about the run in it."""
    turns = (Message("user", "one"), Message("assistant", "two"), Message("user", "three"))
    llm = InboxLLM(box, run="/home/me/run")
    completion = ask_then(llm, call("r1.c1", messages=turns), lambda: put_answer(box, 1, "done\n") and None)
    assert completion.text == "done\n"
    assert completion.model == "inbox"
    assert completion.usage.estimated_tokens == completion.usage.total > 0
    assert completion.cost_usd is None
    text = (box / "0001.md").read_text(encoding="utf-8")
    assert text == "You write policies.\n\n[user]\none\n\n[assistant]\ntwo\n\n[user]\nthree\n"


def test_slow_writer_is_waited_for(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is empty or still grows is no answer."""
    now = [0.0]
    clock = SimpleNamespace(monotonic=lambda: now[0], time=time.time)
    monkeypatch.setattr(inbox, "time", clock)

    def slowly() -> None:
        (box / "0001.answer.md").write_text("\n", encoding="utf-8")
        now[0] += 10.0
        time.sleep(0.2)  # it is polled meanwhile
        for n in range(8):
            with (box / "0001.answer.md").open("a", encoding="utf-8") as file:
                file.write(f"line {n}\n")
            time.sleep(0.03)
        clock.monotonic = time.monotonic

    assert ask_then(InboxLLM(box), call("r1.c1"), slowly).text.endswith("line 7\n")


def test_any_bytes_are_accepted_as_an_answer(box: Path) -> None:
    """They may have a byte-order mark or be invalid UTF-8."""
    completion = ask_then(
        InboxLLM(box),
        call("r1.c1"),
        lambda: (box / "0001.answer.md").write_bytes(b"\xef\xbb\xbfcode \xff") and None,
    )
    assert completion.text == "code \\xff"


def test_questions_are_not_repeated_by_a_new_process(box: Path) -> None:
    """It finds its questions, and the answers that came in between."""

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


def test_other_run_or_prompt_is_a_new_question(box: Path, answerer: Callable[[], None]) -> None:
    answerer()
    [first] = ask(InboxLLM(box, run="a"), call("r1.c1"))
    [other_run] = ask(InboxLLM(box, run="b"), call("r1.c1"))
    [other_prompt] = ask(InboxLLM(box, run="a"), call("r1.c1", system="Another."))
    [again] = ask(InboxLLM(box, run="a"), call("r1.c1"))
    assert [item.text for item in (first, other_run, other_prompt, again)] == [
        "answer 1", "answer 2", "answer 3", "answer 1",
    ]  # fmt: skip


def test_recovers_from_a_kill_while_writing(box: Path, answerer: Callable[[], None]) -> None:
    """A torn note keeps its number and is no question; a note without its text gets it again."""
    answerer()
    box.mkdir()
    (box / ".0007.json").write_text('{"run": "a", "ca', encoding="utf-8")
    [completion] = ask(InboxLLM(box, run="a"), call("r1.c1"))
    assert completion.text == "answer 8"
    (box / "0008.md").unlink()
    (box / "0008.answer.md").unlink()
    assert ask(InboxLLM(box, run="a"), call("r1.c1"))[0].text == "answer 8"
    assert (box / "0008.md").exists()


def test_deleting_a_question_refuses_the_call(box: Path) -> None:
    """Deleting the directory refuses all calls."""
    import shutil

    with pytest.raises(ProviderError, match="was deleted") as caught:
        ask_then(InboxLLM(box), call("r1.c1"), (box / "0001.md").unlink)
    assert not isinstance(caught.value, FatalProviderError)
    with pytest.raises(FatalProviderError, match="cannot use the inbox"):
        ask_then(InboxLLM(box), call("r1.c1"), lambda: shutil.rmtree(box))


def test_many_runs_share_a_directory(box: Path, answerer: Callable[[], None]) -> None:
    """Every call has a number of its own."""
    answerer()
    answers: list[str] = []

    def one(run: str) -> None:
        answers.extend(item.text for item in ask(InboxLLM(box, run=run), *(call(f"c{n}") for n in range(4))))

    threads = [threading.Thread(target=one, args=(f"run {n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == sorted(f"answer {n}" for n in range(1, 33))


def test_only_open_questions_can_be_answered(box: Path) -> None:
    """An empty answer is refused as well."""
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


def test_name_has_the_full_path_and_the_price_is_used(box: Path, answerer: Callable[[], None]) -> None:
    """With the full path a run resumes from any directory."""
    answerer()
    llm = make_llm(f"inbox:{box}", run="a", price=(4.0, 0.0))
    assert llm.name == f"inbox:{box}"
    assert f"promptpo inbox {box}" in describe_choice(llm.name, llm)
    [completion] = ask(llm)
    assert completion.cost_usd == Price(4.0, 0.0).cost(completion.usage) > 0  # known
    file = box / "0001.md"
    with pytest.raises(UsageError, match="not a directory"):
        InboxLLM(file)


def test_inboxes_in_subdirectories_are_listed(box: Path) -> None:
    """Each answer goes to the inbox of its question."""
    completions: list[Completion] = []
    llms = [InboxLLM(box / name, run=name) for name in ("a", "b")]
    threads = [
        threading.Thread(target=lambda llm=llm: completions.extend(ask(llm, call("k")))) for llm in llms
    ]
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
    assert sorted(completion.text for completion in completions) == ["a", "b"]
