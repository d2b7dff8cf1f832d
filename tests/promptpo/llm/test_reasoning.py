"""Reasoning models: effort, cost, token limits and the Responses API."""

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

HIGH_EFFORT = replace(REQUEST, effort="high")
ONLY_RESPONSES = "This model is only supported in v1/responses and not in v1/chat/completions."


def responses_api_only(body: Mapping[str, Any]) -> Reply:
    """Reply as a service that offers a model through the Responses API only."""
    return Reply(ONLY_RESPONSES, status=404, error={"param": "model"}) if "messages" in body else Reply()


@pytest.fixture
def openai(server: WireServer, monkeypatch: pytest.MonkeyPatch) -> Provider:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return Provider("openai", server)


def test_effort_is_sent_under_the_services_own_name(provider: Provider, server: WireServer) -> None:
    """It is left out unless requested."""
    ask(provider.make(), REQUEST)
    ask(provider.make(), HIGH_EFFORT)
    plain, with_effort = (seen.body for seen in server.seen)
    names: dict[str, dict[str, Any]] = {
        "openai": {"reasoning_effort": "high"},
        "anthropic": {"output_config": {"effort": "high"}, "thinking": {"type": "adaptive"}},
    }
    settings = names[provider.name]
    assert with_effort == {**plain, **settings}
    assert not set(settings) & set(plain)


def test_reasoning_tokens_are_charged_once(provider: Provider, server: WireServer) -> None:
    """They are part of the output tokens."""
    server.script(Reply(thought=7))
    [completion] = ask(provider.make(price=Price(0.0, 1e6)), HIGH_EFFORT)
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
def test_refused_effort_is_left_out_from_then_on(
    name: str, words: str, refused: str, server: WireServer, caplog: pytest.LogCaptureFixture
) -> None:
    """The user is warned once."""
    server.otherwise = lambda body: Reply(words, status=400) if refused in body else Reply()
    llm = Provider(name, server).make()
    ask(llm, HIGH_EFFORT)
    assert [refused in seen.body for seen in server.seen] == [True, False]
    assert f"does not accept {refused}=" in caplog.text


def test_temperature_is_dropped_rather_than_thinking(server: WireServer) -> None:
    """If the two exclude each other, the service's error names the temperature."""
    words = "`temperature` may only be set to 1 when thinking is enabled."
    server.otherwise = lambda body: Reply(words, status=400) if "temperature" in body else Reply()
    ask(Provider("anthropic", server).make(), replace(HIGH_EFFORT, temperature=0.3))
    assert "thinking" in server.seen[-1].body
    assert "temperature" not in server.seen[-1].body


def test_answer_cut_off_while_reasoning_is_reported(
    provider: Provider, server: WireServer, caplog: pytest.LogCaptureFixture
) -> None:
    """The warning has the tokens and the flags to change."""
    server.otherwise = Reply("", finish="length", thought=10)
    with caplog.at_level(logging.WARNING):
        [completion] = ask(provider.make(), HIGH_EFFORT)
    assert (completion.text, completion.finish) == ("", "length")
    assert completion.usage.reasoning_tokens == 20
    assert "still reasoning (10 tokens, no text); raise --max-output-tokens or lower --effort" in caplog.text


def test_outcome_of_a_candidate_cut_off_while_reasoning(tmp_path: Path) -> None:
    import promptpo
    from promptpo.cli.show import overview
    from promptpo.llm.base import Completion
    from promptpo.llm.scripted import ScriptedLLM

    llm = ScriptedLLM(lambda _: Completion("", "m", finish="length", cost_usd=0.0))
    promptpo.optimize("CartPole-v1", llm=llm, out=tmp_path / "run", rounds=1, candidates=1, **QUICK)
    assert "the token limit was reached in the middle of thinking" in overview(tmp_path / "run")


@pytest.mark.slow
def test_responses_api_gets_every_setting(openai: Provider, server: WireServer) -> None:
    """One failed request detects it."""
    server.otherwise = lambda body: replace(responses_api_only(body), cached=40, written=20, thought=7)
    turns = (Message("user", "one"), Message("assistant", "two"), Message("user", "three"))
    llm = openai.make(price=Price(2e6, 1e6, cached_input=1e6, cache_write=4e6))
    first, _ = ask(llm, replace(HIGH_EFFORT, messages=turns, temperature=0.3), HIGH_EFFORT)
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


def test_responses_api_is_remembered(openai: Provider, server: WireServer) -> None:
    server.otherwise = responses_api_only
    llm = openai.make()

    async def two_calls() -> None:
        await llm.complete(REQUEST)
        await llm.complete(REQUEST)
        await llm.aclose()

    asyncio.run(two_calls())
    assert [seen.path.rpartition("/")[2] for seen in server.seen] == ["completions", "responses", "responses"]


@pytest.mark.parametrize("finish", ["length", "refusal"])
def test_finishes_of_the_responses_api(openai: Provider, server: WireServer, finish: str) -> None:
    server.otherwise = lambda body: (
        responses_api_only(body) if "messages" in body else Reply("text", finish=finish)
    )
    [completion] = ask(openai.make())
    assert (completion.finish, completion.text) == (finish, "text")


def test_failures_of_the_responses_api(openai: Provider, server: WireServer) -> None:
    """A failure with status 200, a refused setting and an unknown model are handled as elsewhere."""
    server.otherwise = lambda body: (
        responses_api_only(body) if "messages" in body else Reply("boom", finish="failed")
    )
    with pytest.raises(ProviderError, match="not an answer"):
        ask(openai.make())
    server.otherwise = lambda body: (
        responses_api_only(body)
        if "messages" in body
        else Reply("Unsupported parameter: 'temperature'", status=400)
        if "temperature" in body
        else Reply("fine")
    )
    assert ask(openai.make(), replace(REQUEST, temperature=0.3))[0].text == "fine"
    server.otherwise = Reply(ONLY_RESPONSES, status=404)
    with pytest.raises(ProviderError, match="only supported in v1/responses"):
        ask(openai.make())


def test_responses_api_keeps_the_contract_of_providers(openai: Provider, server: WireServer) -> None:
    server.otherwise = responses_api_only
    asyncio.run(check_contract(openai.make()))


@pytest.mark.parametrize("model", ["exec:cat", "search", "inbox:box"])
def test_effort_is_refused_for_models_without_it(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The refusal comes before any request."""
    import promptpo

    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="--effort is for"):
        promptpo.optimize("CartPole-v1", model=model, out=tmp_path / "run", effort="low")
    assert not (tmp_path / "run").exists()
