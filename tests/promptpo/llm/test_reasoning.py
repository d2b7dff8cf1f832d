"""Models that think: how hard, what it costs, when it leaves no room for an answer, and where they are asked."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from promptpo.errors import ProviderError, UsageError
from promptpo.llm.base import Message, Usage
from promptpo.llm.prices import Price
from tests.promptpo.llm.asking import KEY, REQUEST, Provider, ask, check_contract
from tests.promptpo.llm.wire_server import Reply, WireServer
from tests.promptpo.optimizing import QUICK

HARD = replace(REQUEST, effort="high")
ONLY_RESPONSES = "This model is only supported in v1/responses and not in v1/chat/completions."


def elsewhere(body: Mapping[str, Any]) -> Reply:
    """A service that offers a model through the Responses API only."""
    return Reply(ONLY_RESPONSES, status=404, error={"param": "model"}) if "messages" in body else Reply()


@pytest.fixture
def openai(server: WireServer, monkeypatch: pytest.MonkeyPatch) -> Provider:
    """The OpenAI provider alone."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return Provider("openai", server)


def test_effort_goes_under_the_services_own_name(provider: Provider, server: WireServer) -> None:
    """And only where it was asked for."""
    ask(provider.make(), REQUEST)
    ask(provider.make(), HARD)
    plain, hard = (seen.body for seen in server.seen)
    names: dict[str, dict[str, Any]] = {
        "openai": {"reasoning_effort": "high"},
        "anthropic": {"output_config": {"effort": "high"}, "thinking": {"type": "adaptive"}},
    }
    settings = names[provider.name]
    assert hard == {**plain, **settings}
    assert not set(settings) & set(plain)


def test_thinking_is_counted_and_paid_once(provider: Provider, server: WireServer) -> None:
    """Its tokens are part of the output, so that they cost what output costs and no more."""
    server.script(Reply(thought=7))
    [completion] = ask(provider.make(price=Price(0.0, 1e6)), HARD)
    assert completion.usage == Usage(100, 0, 10, reasoning_tokens=7)
    assert completion.cost_usd == 10.0


@pytest.mark.parametrize(
    ("name", "words", "refused"),
    [
        ("openai", "Unrecognized request argument supplied: reasoning_effort", "reasoning_effort"),
        ("openai", '"qwen2.5-coder:7b" does not support thinking', "reasoning_effort"),
        ("anthropic", "This model does not support the effort parameter.", "output_config"),
        ("anthropic", "adaptive thinking is not supported on this model", "thinking"),
    ],
)
def test_a_model_that_does_not_think(
    name: str, words: str, refused: str, server: WireServer, caplog: pytest.LogCaptureFixture
) -> None:
    """What it refuses is left out from then on, and the user told once."""
    server.otherwise = lambda body: Reply(words, status=400) if refused in body else Reply()
    llm = Provider(name, server).make()
    ask(llm, HARD)
    assert [refused in seen.body for seen in server.seen] == [True, False]
    assert f"does not accept {refused}=" in caplog.text


def test_temperature_goes_before_thinking(server: WireServer) -> None:
    """Where the two exclude each other, the service names the one to leave out first."""
    words = "`temperature` may only be set to 1 when thinking is enabled."
    server.otherwise = lambda body: Reply(words, status=400) if "temperature" in body else Reply()
    ask(Provider("anthropic", server).make(), replace(HARD, temperature=0.3))
    assert "thinking" in server.seen[-1].body
    assert "temperature" not in server.seen[-1].body


def test_an_answer_cut_off_by_thinking_is_told(
    provider: Provider, server: WireServer, caplog: pytest.LogCaptureFixture
) -> None:
    """With its tokens and what to do; the completion says that it was cut off."""
    server.otherwise = Reply("", finish="length", thought=10)
    with caplog.at_level(logging.WARNING):
        [completion] = ask(provider.make(), HARD)
    assert (completion.text, completion.finish) == ("", "length")
    assert completion.usage.reasoning_tokens == 20
    assert "still reasoning (10 tokens, no text); raise --max-output-tokens or lower --effort" in caplog.text


def test_such_a_candidate_says_why(tmp_path: Path) -> None:
    """Its outcome in the run is that sentence, not just an empty answer."""
    import promptpo
    from promptpo.cli.show import overview
    from promptpo.llm.base import Completion
    from promptpo.llm.scripted import ScriptedLLM

    llm = ScriptedLLM(lambda _: Completion("", "m", finish="length", cost_usd=0.0))
    promptpo.optimize("CartPole-v1", llm=llm, out=tmp_path / "run", rounds=1, candidates=1, **QUICK)
    assert "the token limit was reached in the middle of thinking" in overview(tmp_path / "run")


@pytest.mark.slow
def test_a_model_of_the_responses_api(openai: Provider, server: WireServer) -> None:
    """One request finds out; from then on it is asked there, with everything that belongs to a request."""
    server.otherwise = lambda body: replace(elsewhere(body), cached=40, written=20, thought=7)
    turns = (Message("user", "one"), Message("assistant", "two"), Message("user", "three"))
    llm = openai.make(price=Price(2e6, 1e6, cached_input=1e6, cache_write=4e6))
    first, _ = ask(llm, replace(HARD, messages=turns, temperature=0.3), HARD)
    assert first.text == "an answer"
    assert first.model == "model-1-2026-10-01"
    assert first.usage == Usage(100, 40, 10, reasoning_tokens=7)
    assert first.cost_usd == 40 * 2 + 40 * 1 + 20 * 4 + 10
    sent = next(seen for seen in server.seen if seen.body.get("temperature") and "input" in seen.body)
    assert sent.body == {
        "model": "model-1",
        "instructions": "You write policies.",
        "input": [{"role": turn.role, "content": turn.content} for turn in turns],
        "store": False,
        "stream": True,
        "max_output_tokens": 1000,
        "temperature": 0.3,
        "reasoning": {"effort": "high"},
    }


def test_the_responses_api_is_remembered(openai: Provider, server: WireServer) -> None:
    """A later call goes there at once."""
    server.otherwise = elsewhere
    llm = openai.make()

    async def two_calls() -> None:
        await llm.complete(REQUEST)
        await llm.complete(REQUEST)
        await llm.aclose()

    asyncio.run(two_calls())
    assert [seen.path.rpartition("/")[2] for seen in server.seen] == ["completions", "responses", "responses"]


@pytest.mark.parametrize("finish", ["length", "refusal"])
def test_finishes_of_the_responses_api(openai: Provider, server: WireServer, finish: str) -> None:
    """Cut off and refused are told apart from done."""
    server.otherwise = lambda body: elsewhere(body) if "messages" in body else Reply("text", finish=finish)
    [completion] = ask(openai.make())
    assert (completion.finish, completion.text) == (finish, "text")


def test_failures_of_the_responses_api(openai: Provider, server: WireServer) -> None:
    """A failure with status 200, a refused setting and an unknown model are what they are elsewhere."""
    server.otherwise = lambda body: elsewhere(body) if "messages" in body else Reply("boom", finish="failed")
    with pytest.raises(ProviderError, match="not an answer"):
        ask(openai.make())
    server.otherwise = lambda body: (
        elsewhere(body)
        if "messages" in body
        else Reply("Unsupported parameter: 'temperature'", status=400)
        if "temperature" in body
        else Reply("fine")
    )
    assert ask(openai.make(), replace(REQUEST, temperature=0.3))[0].text == "fine"
    server.otherwise = Reply(ONLY_RESPONSES, status=404)
    with pytest.raises(ProviderError, match="only supported in v1/responses"):
        ask(openai.make())


def test_conformance_through_the_responses_api(openai: Provider, server: WireServer) -> None:
    """The provider keeps its contract there as well."""
    server.otherwise = elsewhere
    asyncio.run(check_contract(openai.make()))


@pytest.mark.parametrize("model", ["exec:cat", "search", "inbox:box"])
def test_effort_for_what_takes_none_is_refused(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence, before anything is asked."""
    import promptpo

    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="--effort is for"):
        promptpo.optimize("CartPole-v1", model=model, out=tmp_path / "run", effort="low")
    assert not (tmp_path / "run").exists()
