"""The replay provider: by key, then in order, and a clear end."""

from __future__ import annotations

import json
import lzma
import tracemalloc
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo import files
from promptpo.core.journal import Journal
from promptpo.errors import FatalProviderError, UsageError
from promptpo.llm import replay
from promptpo.llm.base import ALL_PURPOSES, Completion, Usage
from promptpo.llm.replay import ReplayLLM
from promptpo.run.recording import recording
from tests.promptpo.llm.asking import REQUEST, ask

if TYPE_CHECKING:
    from pathlib import Path

    from promptpo.llm.base import Request


def call(key: str, **changes: Any) -> Request:
    """A request under this key."""
    return replace(REQUEST, key=key, **changes)


def texts(llm: ReplayLLM, *requests: Request) -> list[str]:
    """What it answers."""
    return [completion.text for completion in ask(llm, *requests)]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run directory with four recorded calls among other events."""
    usage = {"input_tokens": 7, "cached_input_tokens": 3, "output_tokens": 5}
    common = {
        "model": "m-1",
        "finish": "stop",
        "usage": usage,
        "cost_usd": 0.5,
        "seconds": 2.0,
        "prompt": "p",
    }
    events = [
        ("session", "1", {"pid": 1}),
        ("completion", "feedback", {"text": "F", "purpose": "feedback", **common}),
        ("completion", "r1.c2", {"text": "B", "purpose": "policy", **common}),
        ("completion", "r1.c1", {"text": "A", "purpose": "policy", **common}),
        ("evaluation", "x", {"text": "not an answer"}),
        ("completion", "r1.c1.repair1", {"text": "R", "purpose": "repair", **common, "finish": "length"}),
    ]
    lines = [
        json.dumps({"n": n, "t": 0.0, "kind": kind, "key": key, "data": data})
        for n, (kind, key, data) in enumerate(events)
    ]
    (tmp_path / "journal.jsonl").write_text("\n".join(lines) + '\n{"n": 6, "kind": "compl', encoding="utf-8")
    return tmp_path


def test_run_is_answered_by_key(run: Path) -> None:
    """Whatever the order of the calls, each gets its own answer, with everything that was recorded."""
    llm = ReplayLLM(run)
    first, repair, second = ask(llm, call("r1.c1"), call("r1.c1.repair1", purpose="repair"), call("r1.c2"))
    assert [first.text, repair.text, second.text] == ["A", "R", "B"]
    assert repair.finish == "length"
    assert (first.model, first.usage, first.cost_usd) == ("m-1", Usage(7, 3, 5), 0.0)
    assert llm.capabilities.purposes == {"feedback", "policy", "repair"}


def test_unknown_key_gets_an_unused_answer_of_its_purpose(run: Path) -> None:
    """Another number of candidates still finds policies, never a feedback class."""
    llm = ReplayLLM(run)
    assert texts(llm, call("r1.c1"), call("r7.c7")) == ["A", "B"]
    with pytest.raises(FatalProviderError, match=r"used up: it has 4 answers.*r8\.c1 \(policy\)"):
        ask(llm, call("r8.c1"))


def test_same_call_gets_the_same_answer(run: Path) -> None:
    """Asking twice uses nothing up."""
    assert texts(ReplayLLM(run), call("new"), call("new"), call("r1.c1")) == ["B", "B", "A"]


def test_jsonl_with_and_without_keys(tmp_path: Path) -> None:
    """Lines with a key answer their call; the others go to whoever comes."""
    path = tmp_path / "answers.jsonl"
    path.write_text('{"text": "any"}\n\n{"key": "r1.c2", "text": "mine"}\n', encoding="utf-8")
    llm = ReplayLLM(path)
    optional = {"probe", "simulator", "spec"}  # an answer that might be a policy is none of these
    assert llm.capabilities.purposes == ALL_PURPOSES - optional
    assert texts(llm, call("r1.c2"), call("r1.c1", purpose="repair")) == ["mine", "any"]


def test_going_on_after_a_kill_serves_what_is_left(tmp_path: Path) -> None:
    """Answers that an earlier process had are not served again, whichever of them it had."""
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(f'{{"text": "{name}"}}\n' for name in "abcd"), encoding="utf-8")
    llm = ReplayLLM(path, answered=[Completion("c", "replay"), Completion("unknown", "replay")])
    assert texts(llm, call("r1.c1"), call("r1.c2"), call("r1.c4")) == ["a", "b", "d"]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("missing.jsonl", None, "cannot read the recording .*missing.jsonl: No such file"),
        ("empty.jsonl", "", "no recorded answer"),
        ("bad.jsonl", '{"text": "fine"}\n{"answer": 1}\n', "line 2"),
        ("list.jsonl", "[1]\n", "line 1"),
        ("purpose.jsonl", '{"text": "x", "purpose": "dancing"}\n', "line 1"),
        ("answer.md", "x = 1", "not a recording"),
    ],
)
def test_what_cannot_be_replayed(tmp_path: Path, name: str, content: str | None, says: str) -> None:
    """One sentence says what replay takes."""
    path = tmp_path / name
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=says):
        ReplayLLM(path)


def test_empty_directory(tmp_path: Path) -> None:
    """A directory without answers is a mistake, not an empty recording."""
    with pytest.raises(UsageError, match=r"cannot read the recording .*journal\.jsonl"):
        ReplayLLM(tmp_path)


# Line ends of Unicode are frequent, since JSON may carry them as they are.
TEXT = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("\u2028\u2029\x85\x0b\x0c\x1c\r\n"))
)


@given(answers=st.lists(TEXT, min_size=1, max_size=4))
def test_any_journal_can_be_replayed(tmp_path_factory: pytest.TempPathFactory, answers: list[str]) -> None:
    """What a run wrote down is what replaying it gives."""
    answers = [Completion(text, "m").text for text in answers]
    directory = tmp_path_factory.mktemp("replay")
    with Journal(directory) as journal:
        for n, text in enumerate(answers):
            data = {"purpose": "policy", "prompt": "p", **asdict(Completion(text, "m"))}
            journal.add("completion", f"r1.c{n}", data)
    assert texts(ReplayLLM(directory), *(call(f"r1.c{n}") for n in range(len(answers)))) == answers


@given(answers=st.lists(TEXT, min_size=1, max_size=8), ascii_only=st.booleans())
def test_any_text_survives(
    tmp_path_factory: pytest.TempPathFactory, answers: list[str], *, ascii_only: bool
) -> None:
    """Every text that JSON carries comes back as any provider would give it, each once, in order."""
    path = tmp_path_factory.mktemp("replay") / "answers.jsonl"
    lines = (json.dumps({"text": text}, ensure_ascii=ascii_only) for text in answers)
    path.write_bytes(b"".join(line.encode() + b"\n" for line in lines))
    llm = ReplayLLM(path)
    found = texts(llm, *(call(f"r1.c{n}") for n in range(len(answers))))
    assert found == [Completion(text, "m").text for text in answers]


def test_a_recording_is_heard_as_the_run_it_was_made_of(run: Path, tmp_path: Path) -> None:
    """Compressed, without anything but prompts and answers, it has the same answers under the same keys."""
    file = tmp_path / "said.jsonl.xz"
    file.write_bytes(recording(run))
    assert ReplayLLM(file).capabilities == ReplayLLM(run).capabilities
    for key in ("r1.c1", "r1.c2"):
        assert texts(ReplayLLM(file), call(key)) == texts(ReplayLLM(run), call(key))


def test_a_damaged_recording_is_told(tmp_path: Path) -> None:
    """What is not compressed as its name says gets a sentence."""
    file = tmp_path / "said.jsonl.xz"
    file.write_bytes(b'{"text": "plain"}\n')
    with pytest.raises(UsageError, match="damaged or not compressed"):
        ReplayLLM(file)


def test_a_recording_that_unpacks_without_end_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unpacking stops at the bound, however small the file is."""
    for module in (files, replay):
        monkeypatch.setattr(module, "MAX_FILE_BYTES", 1 << 20)
    path = tmp_path / "bomb.jsonl.xz"
    path.write_bytes(lzma.compress(bytes(1 << 26), preset=0))
    tracemalloc.start()
    with pytest.raises(UsageError, match="holds more than 1 MB"):
        ReplayLLM(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1 << 24
