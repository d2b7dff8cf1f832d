"""Streamed answers: progress is reported, and partial text is kept if the connection breaks."""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from promptpo.core.budget import Ledger
from promptpo.core.config import Config
from promptpo.core.journal import Journal
from promptpo.core.work import RecordedWork
from promptpo.envs.task import Task
from promptpo.errors import ProviderError
from promptpo.llm.base import Message, Usage
from tests.promptpo.llm.asking import REQUEST, Provider, ask
from tests.promptpo.llm.wire_server import Reply, WireServer

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "class Policy: " * 10
RESPONSES_ONLY = "This model is only supported in v1/responses and not in v1/chat/completions."


def test_characters_are_reported_while_they_arrive(provider: Provider, server: WireServer) -> None:
    """The count grows to the length of the answer."""
    server.script(Reply(TEXT, cached=40, pause=0.01))
    counts: list[int] = []
    [completion] = ask(provider.make(), replace(REQUEST, on_chunk=counts.append))
    assert server.seen[0].body["stream"] is True
    assert completion.text == TEXT
    assert completion.usage == Usage(100, 40, 10)
    assert counts == sorted(counts)
    assert len(set(counts)) > 3
    assert counts[-1] == len(TEXT)


@pytest.mark.parametrize("finish", ["stop", "length", "refusal"])
@pytest.mark.parametrize("responses", [False, True])
def test_streamed_answer_equals_a_whole_one(
    provider: Provider, server: WireServer, finish: str, responses: bool
) -> None:
    """Text, finish reason, tokens and model are equal, also if the server ignores the request to stream."""
    if responses and provider.name != "openai":
        pytest.skip("a format of OpenAI's")
    rejection = [Reply(RESPONSES_ONLY, status=404)] if responses else []
    reply = Reply(TEXT, finish=finish, thought=4, cached=20, written=10)
    server.script(*rejection, reply, replace(reply, whole=True))
    llm = provider.make()
    counts: list[int] = []
    [streamed] = ask(llm, replace(REQUEST, on_chunk=counts.append))
    server.script(*rejection, replace(reply, whole=True))
    [whole] = ask(provider.make())
    assert replace(streamed, seconds=0) == replace(whole, seconds=0)
    assert streamed.finish == finish


def test_partial_answer_is_kept(
    provider: Provider, server: WireServer, caplog: pytest.LogCaptureFixture
) -> None:
    """It counts as cut off, with an estimated cost, and is not requested again."""
    server.script(Reply(TEXT, break_after={"openai": 3, "anthropic": 8}[provider.name]))
    with caplog.at_level(logging.WARNING):
        [completion] = ask(provider.make())
    assert completion.finish == "length"
    assert 0 < len(completion.text) < len(TEXT)
    assert TEXT.startswith(completion.text)
    assert completion.usage.estimated_tokens == completion.usage.total > 0
    assert len(server.seen) == 1
    assert f"broke after {len(completion.text)} characters" in caplog.text


def test_stream_that_breaks_before_any_text_is_retried(provider: Provider, server: WireServer) -> None:
    """If it breaks every time, that is one sentence."""
    server.script(Reply(break_after=1))
    assert ask(provider.make())[0].text == "an answer"
    assert len(server.seen) == 2
    server.otherwise = Reply(break_after=1)
    with pytest.raises(ProviderError):
        ask(provider.make())


@pytest.mark.parametrize("whole", [False, True])
def test_endless_answer_is_cut_off(
    provider: Provider, server: WireServer, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text up to the limit is kept."""
    monkeypatch.setattr("promptpo.llm.provider.MAX_ANSWER_CHARACTERS", 40)
    server.script(Reply(TEXT * 100, whole=whole))
    [completion] = ask(provider.make())
    assert (completion.finish, completion.text) == ("length", TEXT[:40])


@pytest.mark.parametrize("name", ["stream", "stream_options"])
def test_refused_streaming_is_given_up(server: WireServer, name: str) -> None:
    """Services refuse streams to some accounts, and servers refuse to count tokens in them."""
    words = f"Unsupported value: '{name}'. Your organization must be verified to {name} this model."
    error = {"param": name, "code": "unsupported_value"}
    server.otherwise = lambda body: Reply(words, status=400, error=error) if name in body else Reply()
    [completion] = ask(Provider("openai", server).make())
    assert completion.text == "an answer"
    assert "stream_options" not in server.seen[-1].body
    assert completion.usage.output_tokens > 0


def test_run_counts_arriving_characters(provider: Provider, server: WireServer, tmp_path: Path) -> None:
    """Under the key of the call, and only while the answer is incomplete."""
    config = Config(task=Task("CartPole-v1"), model="scripted")
    counts: list[int] = []

    class Arriving(dict[str, int]):
        """Records every value that is set."""

        def __setitem__(self, key: str, count: int) -> None:
            counts.append(count)
            super().__setitem__(key, count)

    server.script(Reply(TEXT))
    with Journal(tmp_path) as journal:
        ledger = Ledger(config.budget)
        ledger.streamed_chars = Arriving()
        work = RecordedWork(provider.make(), None, config, journal, ledger)

        async def run() -> None:
            answer = await work.ask("r1.c1", "policy", [Message("user", "Write one.")], system="")
            assert answer.text == TEXT
            await work.llm.aclose()

        asyncio.run(run())
    assert len(set(counts)) > 2
    assert counts == sorted(counts)
    assert ledger.streamed_chars == {}


@pytest.mark.parametrize("count", ["many", -5, 10**400, None])
def test_impossible_token_counts_are_replaced_by_estimates(server: WireServer, count: object) -> None:
    """Local servers may report anything."""
    usage = {"prompt_tokens": count, "completion_tokens": count, "total_tokens": count}
    body = {"choices": [{"message": {"content": "text"}, "finish_reason": "stop"}], "usage": usage}
    server.script(Reply(raw=json.dumps(body).encode()))
    [completion] = ask(Provider("openai", server).make())
    assert completion.text == "text"
    assert completion.usage.estimated_tokens == completion.usage.total > 0
