"""Answers come as they are written: they are heard on the way, and what had arrived is kept where the connection breaks."""

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


def test_characters_are_heard_on_the_way(provider: Provider, server: WireServer) -> None:
    """Their number grows to that of the answer, before the answer is there."""
    server.script(Reply(TEXT, cached=40, pause=0.01))
    heard: list[int] = []
    [completion] = ask(provider.make(), replace(REQUEST, heard=heard.append))
    assert server.seen[0].body["stream"] is True
    assert completion.text == TEXT
    assert completion.usage == Usage(100, 40, 10)
    assert heard == sorted(heard)
    assert len(set(heard)) > 3
    assert heard[-1] == len(TEXT)


@pytest.mark.parametrize("finish", ["stop", "length", "refusal"])
@pytest.mark.parametrize("responses", [False, True])
def test_a_stream_says_what_a_whole_answer_says(
    provider: Provider, server: WireServer, finish: str, responses: bool
) -> None:
    """Text, finish, tokens and model are the same, also from a server that does not stream."""
    if responses and provider.name != "openai":
        pytest.skip("a format of OpenAI's")
    wrong = [Reply(RESPONSES_ONLY, status=404)] if responses else []
    reply = Reply(TEXT, finish=finish, thought=4, cached=20, written=10)
    server.script(*wrong, reply, replace(reply, whole=True))
    llm = provider.make()
    heard: list[int] = []
    [streamed] = ask(llm, replace(REQUEST, heard=heard.append))
    server.script(*wrong, replace(reply, whole=True))
    [whole] = ask(provider.make())
    assert replace(streamed, seconds=0) == replace(whole, seconds=0)
    assert streamed.finish == finish


def test_what_had_arrived_is_kept(
    provider: Provider, server: WireServer, caplog: pytest.LogCaptureFixture
) -> None:
    """An answer that was cut off, which costs what can be estimated, and is not asked for again."""
    server.script(Reply(TEXT, break_after={"openai": 3, "anthropic": 8}[provider.name]))
    with caplog.at_level(logging.WARNING):
        [completion] = ask(provider.make())
    assert completion.finish == "length"
    assert 0 < len(completion.text) < len(TEXT)
    assert TEXT.startswith(completion.text)
    assert completion.usage.estimated_tokens == completion.usage.total > 0
    assert len(server.seen) == 1
    assert f"broke after {len(completion.text)} characters" in caplog.text


def test_a_stream_that_breaks_before_any_text_is_asked_for_again(
    provider: Provider, server: WireServer
) -> None:
    """Nothing of the answer is lost; where it breaks each time that is one sentence."""
    server.script(Reply(break_after=1))
    assert ask(provider.make())[0].text == "an answer"
    assert len(server.seen) == 2
    server.otherwise = Reply(break_after=1)
    with pytest.raises(ProviderError):
        ask(provider.make())


@pytest.mark.parametrize("whole", [False, True])
def test_an_answer_without_an_end_is_cut(
    provider: Provider, server: WireServer, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What had come by then is an answer that was cut off."""
    monkeypatch.setattr("promptpo.llm.provider.MAX_ANSWER_CHARACTERS", 40)
    server.script(Reply(TEXT * 100, whole=whole))
    [completion] = ask(provider.make())
    assert (completion.finish, completion.text) == ("length", TEXT[:40])


@pytest.mark.parametrize("name", ["stream", "stream_options"])
def test_a_refused_stream_is_given_up(server: WireServer, name: str) -> None:
    """Services refuse streams to some accounts, and servers the count of tokens in them."""
    words = f"Unsupported value: '{name}'. Your organization must be verified to {name} this model."
    error = {"param": name, "code": "unsupported_value"}
    server.otherwise = lambda body: Reply(words, status=400, error=error) if name in body else Reply()
    [completion] = ask(Provider("openai", server).make())
    assert completion.text == "an answer"
    assert "stream_options" not in server.seen[-1].body
    assert completion.usage.output_tokens > 0


def test_a_run_hears_what_arrives(provider: Provider, server: WireServer, tmp_path: Path) -> None:
    """While an answer is being written its characters are counted under the name of its call; nothing is left of it after."""
    config = Config(task=Task("CartPole-v1"), model="scripted")
    counts: list[int] = []

    class Arriving(dict[str, int]):
        """Notes what is set."""

        def __setitem__(self, key: str, count: int) -> None:
            counts.append(count)
            super().__setitem__(key, count)

    server.script(Reply(TEXT))
    with Journal(tmp_path) as journal:
        ledger = Ledger(config.budget)
        ledger.arriving = Arriving()
        work = RecordedWork(provider.make(), None, config, journal, ledger)

        async def run() -> None:
            answer = await work.ask("r1.c1", "policy", [Message("user", "Write one.")], system="")
            assert answer.text == TEXT
            await work.llm.aclose()

        asyncio.run(run())
    assert len(set(counts)) > 2
    assert counts == sorted(counts)
    assert ledger.arriving == {}


@pytest.mark.parametrize("count", ["many", -5, 10**400, None])
def test_tokens_that_cannot_be_are_estimated(server: WireServer, count: object) -> None:
    """A server of one's own may count as it likes."""
    usage = {"prompt_tokens": count, "completion_tokens": count, "total_tokens": count}
    body = {"choices": [{"message": {"content": "text"}, "finish_reason": "stop"}], "usage": usage}
    server.script(Reply(raw=json.dumps(body).encode()))
    [completion] = ask(Provider("openai", server).make())
    assert completion.text == "text"
    assert completion.usage.estimated_tokens == completion.usage.total > 0
