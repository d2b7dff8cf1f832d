"""The replay provider: answers by key, then in order, and a clear end."""

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
    """Return a request under this key."""
    return replace(REQUEST, key=key, **changes)


def texts(llm: ReplayLLM, *requests: Request) -> list[str]:
    """Return the texts of its answers."""
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
    """In any order, each call gets its own answer with everything that was recorded."""
    llm = ReplayLLM(run)
    first, repair, second = ask(llm, call("r1.c1"), call("r1.c1.repair1", purpose="repair"), call("r1.c2"))
    assert [first.text, repair.text, second.text] == ["A", "R", "B"]
    assert repair.finish == "length"
    assert (first.model, first.usage, first.cost_usd) == ("m-1", Usage(7, 3, 5), 0.0)
    assert llm.capabilities.purposes == {"feedback", "policy", "repair"}


def test_unknown_key_gets_an_unused_answer_of_its_purpose(run: Path) -> None:
    """Such as a policy for a sample that was not recorded, but never a feedback class."""
    llm = ReplayLLM(run)
    assert texts(llm, call("r1.c1"), call("r7.c7")) == ["A", "B"]
    with pytest.raises(FatalProviderError, match=r"used up: it has 4 answers.*r8\.c1 \(policy\)"):
        ask(llm, call("r8.c1"))


def test_same_call_gets_the_same_answer(run: Path) -> None:
    """A repeated request uses up no other answer."""
    assert texts(ReplayLLM(run), call("new"), call("new"), call("r1.c1")) == ["B", "B", "A"]


def test_jsonl_with_and_without_keys(tmp_path: Path) -> None:
    """Lines without a key answer any other call."""
    path = tmp_path / "answers.jsonl"
    path.write_text('{"text": "any"}\n\n{"key": "r1.c2", "text": "mine"}\n', encoding="utf-8")
    llm = ReplayLLM(path)
    optional = {"probe", "simulator", "spec"}  # an answer that may be a policy must not be used for these
    assert llm.capabilities.purposes == ALL_PURPOSES - optional
    assert texts(llm, call("r1.c2"), call("r1.c1", purpose="repair")) == ["mine", "any"]


def test_answers_given_before_a_kill_are_not_repeated(tmp_path: Path) -> None:
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
def test_unusable_recording_is_refused(tmp_path: Path, name: str, content: str | None, says: str) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=says):
        ReplayLLM(path)


def test_empty_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read the recording .*journal\.jsonl"):
        ReplayLLM(tmp_path)


# Oversample Unicode line ends, which JSON may contain unescaped.
TEXT = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("\u2028\u2029\x85\x0b\x0c\x1c\r\n"))
)


@given(answers=st.lists(TEXT, min_size=1, max_size=4))
def test_any_journal_can_be_replayed(tmp_path_factory: pytest.TempPathFactory, answers: list[str]) -> None:
    answers = [Completion(text, "m").text for text in answers]
    directory = tmp_path_factory.mktemp("replay")
    with Journal(directory) as journal:
        for n, text in enumerate(answers):
            data = {"purpose": "policy", "prompt": "p", **asdict(Completion(text, "m"))}
            journal.add("completion", f"r1.c{n}", data)
    assert texts(ReplayLLM(directory), *(call(f"r1.c{n}") for n in range(len(answers)))) == answers


@given(answers=st.lists(TEXT, min_size=1, max_size=8), ascii_only=st.booleans())
def test_any_text_is_replayed_unchanged(
    tmp_path_factory: pytest.TempPathFactory, answers: list[str], *, ascii_only: bool
) -> None:
    """Each once, in order."""
    path = tmp_path_factory.mktemp("replay") / "answers.jsonl"
    lines = (json.dumps({"text": text}, ensure_ascii=ascii_only) for text in answers)
    path.write_bytes(b"".join(line.encode() + b"\n" for line in lines))
    llm = ReplayLLM(path)
    replayed = texts(llm, *(call(f"r1.c{n}") for n in range(len(answers))))
    assert replayed == [Completion(text, "m").text for text in answers]


def test_recording_replays_like_its_run(run: Path, tmp_path: Path) -> None:
    """It is compressed and contains only prompts and answers."""
    file = tmp_path / "said.jsonl.xz"
    file.write_bytes(recording(run))
    assert ReplayLLM(file).capabilities == ReplayLLM(run).capabilities
    for key in ("r1.c1", "r1.c2"):
        assert texts(ReplayLLM(file), call(key)) == texts(ReplayLLM(run), call(key))


def test_damaged_recording_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "said.jsonl.xz"
    file.write_bytes(b'{"text": "plain"}\n')
    with pytest.raises(UsageError, match="damaged or not compressed"):
        ReplayLLM(file)


def test_decompression_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory stays bounded, however small the file is."""
    for module in (files, replay):
        monkeypatch.setattr(module, "MAX_FILE_BYTES", 1 << 20)
    path = tmp_path / "bomb.jsonl.xz"
    path.write_bytes(lzma.compress(bytes(1 << 26), preset=0))
    tracemalloc.start()
    with pytest.raises(UsageError, match="holds more than 1 MB"):
        ReplayLLM(path)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 1 << 24
