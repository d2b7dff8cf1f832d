"""The real OpenAI and Anthropic clients against a real server: requests sent and answers read."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from promptpo.errors import MissingKeyError, ProviderError
from promptpo.llm.base import Message, Usage
from tests.promptpo.llm.asking import KEY, REQUEST, Provider, ask, check_contract
from tests.promptpo.llm.wire_server import Reply, WireServer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PRICES = """
[models."model-1"]
input = 2.0
cached_input = 0.5
cache_write = 3.0
output = 10.0
"""


@pytest.mark.slow
def test_answer_has_text_model_finish_and_tokens(provider: Provider, server: WireServer) -> None:
    server.script(Reply("def act(): ...", cached=40, written=20))
    [completion] = ask(provider.make())
    assert completion.text == "def act(): ..."
    assert completion.model.startswith("model-1-2026")
    assert completion.finish == "stop"
    assert completion.usage == Usage(input_tokens=100, cached_input_tokens=40, output_tokens=10)
    assert completion.cost_usd is None
    assert completion.seconds > 0


def test_request_carries_prompt_and_settings(provider: Provider, server: WireServer) -> None:
    turns = (Message("user", "one"), Message("assistant", "two"), Message("user", "three"))
    ask(provider.make(), replace(REQUEST, messages=turns, temperature=0.3))
    body = server.seen[0].body
    assert body["model"] == "model-1"
    assert body["max_tokens"] == 1000
    assert body["temperature"] == 0.3
    contents = [turn["content"] for turn in body["messages"]]
    if provider.name == "anthropic":
        assert body["system"][0]["text"] == "You write policies."
        assert [content[0]["text"] for content in contents] == ["one", "two", "three"]
    else:
        assert body["messages"][0] == {"role": "system", "content": "You write policies."}
        assert contents[1:] == ["one", "two", "three"]


def test_anthropic_marks_the_stable_prefix_for_caching(
    server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the system prompt and the last stable message carry the mark."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    turns = (Message("user", "one"), Message("assistant", "two"), Message("user", "three"))
    ask(Provider("anthropic", server).make(), replace(REQUEST, messages=turns, stable_messages=2))
    body = server.seen[0].body
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert ["cache_control" in turn["content"][0] for turn in body["messages"]] == [False, True, False]


def test_cost_comes_from_the_price_table(
    provider: Provider, server: WireServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cached, written, plain and generated tokens each have their own price."""
    table = tmp_path / "prices.toml"
    table.write_text(PRICES, encoding="utf-8")
    monkeypatch.setenv("PROMPTPO_PRICES", str(table))
    server.script(Reply(cached=40, written=20))
    [completion] = ask(provider.make())
    assert completion.cost_usd == pytest.approx((40 * 2.0 + 40 * 0.5 + 20 * 3.0 + 10 * 10.0) / 1e6)


@pytest.mark.parametrize("finish", ["length", "refusal"])
def test_cut_off_or_refused_answer_keeps_its_text(
    provider: Provider, server: WireServer, finish: str
) -> None:
    """It is not requested again."""
    server.script(Reply("I cannot", finish=finish))
    [completion] = ask(provider.make())
    assert (completion.finish, completion.text) == (finish, "I cannot")
    assert len(server.seen) == 1


def test_openai_content_filter_is_a_refusal(server: WireServer) -> None:
    server.script(Reply("", finish="content_filter"))
    [completion] = ask(Provider("openai", server).make())
    assert completion.finish == "refusal"


def test_empty_answer_is_requested_again(provider: Provider, server: WireServer) -> None:
    """The tokens of both attempts are counted."""
    server.script(Reply(""), Reply("now"))
    [completion] = ask(provider.make())
    assert completion.text == "now"
    assert completion.usage == Usage(200, 0, 20)


def test_answer_that_stays_empty_is_returned(provider: Provider, server: WireServer) -> None:
    """After three attempts, whose tokens are all counted."""
    server.otherwise = Reply(" \n")
    [completion] = ask(provider.make())
    assert completion.text.strip() == ""
    assert completion.usage.output_tokens == 30
    assert len(server.seen) == 3


def test_token_limit_is_raised_after_an_answer_without_text(provider: Provider, server: WireServer) -> None:
    """It stays raised for later calls."""
    server.script(Reply("", finish="length"))
    llm = provider.make()

    async def two_calls() -> None:
        await llm.complete(REQUEST)
        await llm.complete(REQUEST)
        await llm.aclose()

    asyncio.run(two_calls())
    assert [seen.body["max_tokens"] for seen in server.seen] == [1000, 4000, 4000]


def test_users_token_limit_is_not_raised(provider: Provider, server: WireServer) -> None:
    """The same request would fail again, so it is paid for only once."""
    server.otherwise = Reply("", finish="length")
    [completion] = ask(provider.make(), replace(REQUEST, keeps_limit=True))
    assert [seen.body["max_tokens"] for seen in server.seen] == [1000]
    assert (completion.finish, completion.calls) == ("length", 1)


def test_call_limit_ends_repeated_requests(provider: Provider, server: WireServer) -> None:
    """Every call is counted."""
    server.otherwise, granted = Reply(""), iter([True, False])
    [completion] = ask(provider.make(), replace(REQUEST, may_ask_again=lambda: next(granted)))
    assert len(server.seen) == completion.calls == 2


def test_raised_token_limit_is_withdrawn_if_refused(provider: Provider, server: WireServer) -> None:
    """The empty answer stands, with its cost."""
    too_much = Reply("max_tokens is too large", status=400)
    server.otherwise = lambda body: too_much if body["max_tokens"] > 1000 else Reply("", finish="length")
    [completion] = ask(provider.make())
    assert (completion.text, completion.finish, completion.usage.output_tokens) == ("", "length", 10)
    assert [seen.body["max_tokens"] for seen in server.seen] == [1000, 4000]


@pytest.mark.parametrize(
    "words",
    [
        "`temperature` is deprecated for this model.",
        "Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) value.",
        "temperature: Extra inputs are not permitted",
    ],
)
def test_refused_temperature_is_left_out_and_remembered(
    provider: Provider, server: WireServer, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    """One request is lost, and the user is warned once."""
    server.otherwise = lambda body: Reply(words, status=400) if "temperature" in body else Reply()
    llm = provider.make()
    request = replace(REQUEST, temperature=0.3)

    async def two_calls() -> None:
        await llm.complete(request)
        await llm.complete(request)
        await llm.aclose()

    asyncio.run(two_calls())
    assert ["temperature" in seen.body for seen in server.seen] == [True, False, False]
    [warning] = [record.getMessage() for record in caplog.records if record.name == "promptpo.llm.provider"]
    assert warning.startswith(f"{provider.name}:model-1 does not accept temperature=0.3;")


def test_openai_token_limit_uses_the_name_the_model_accepts(server: WireServer) -> None:
    message = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    error = {"param": "max_tokens", "code": "unsupported_parameter"}
    server.otherwise = lambda body: (
        Reply(message, status=400, error=error) if "max_tokens" in body else Reply()
    )
    ask(Provider("openai", server).make(), replace(REQUEST, temperature=0.3))
    assert "max_tokens" in server.seen[0].body
    assert server.seen[1].body["max_completion_tokens"] == 1000
    assert server.seen[1].body["temperature"] == 0.3


def test_each_refused_setting_costs_one_request(server: WireServer) -> None:
    def strict(body: Mapping[str, Any]) -> Reply:
        for name in ("max_tokens", "temperature"):
            if name in body:
                return Reply(f"Unsupported parameter: '{name}'", status=400)
        return Reply()

    server.otherwise = strict
    ask(Provider("openai", server).make(), replace(REQUEST, temperature=0.3))
    assert len(server.seen) == 3
    assert server.seen[2].body["max_completion_tokens"] == 1000


def test_too_large_token_limit_is_lowered(provider: Provider, server: WireServer) -> None:
    """It is never dropped."""

    def answer(body: Mapping[str, Any]) -> Reply:
        message = f"max_tokens is too large: {body['max_tokens']}. This model takes at most 500."
        return Reply(message, status=400) if body["max_tokens"] > 500 else Reply()

    server.otherwise = answer
    llm = provider.make()
    ask(llm, replace(REQUEST, temperature=0.3))
    assert [seen.body["max_tokens"] for seen in server.seen] == [1000, 500]
    server.otherwise = Reply("max_tokens is too large.", status=400)
    with pytest.raises(ProviderError, match="--max-output-tokens"):
        ask(provider.make())


def test_eight_requests_are_in_flight_at_once(provider: Provider, server: WireServer) -> None:
    """The server answers none until it has received all eight."""
    server.barrier = threading.Barrier(8)
    completions = ask(provider.make(), *(replace(REQUEST, key=f"r1.c{n}") for n in range(8)))
    assert [completion.text for completion in completions] == ["an answer"] * 8
    assert server.max_in_flight == 8


def test_cancelled_request_ends_at_once(provider: Provider, server: WireServer) -> None:
    server.otherwise = Reply(delay=60)
    llm = provider.make()

    async def run() -> float:
        task = asyncio.ensure_future(llm.complete(REQUEST))
        await asyncio.sleep(0.3)
        started = asyncio.get_running_loop().time()
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        seconds = asyncio.get_running_loop().time() - started
        await llm.aclose()
        return seconds

    assert asyncio.run(run()) < 30


def test_sdk_providers_keep_the_contract(provider: Provider) -> None:
    asyncio.run(check_contract(provider.make()))


def test_missing_key_is_named(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of one's own needs none."""
    monkeypatch.delenv(provider.key_variable)
    with pytest.raises(MissingKeyError, match=f"set {provider.key_variable}"):
        provider.make(base_url=None)
    assert ask(provider.make())[0].text == "an answer"


def test_key_is_trimmed(provider: Provider, server: WireServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys are often copied with a line end."""
    monkeypatch.setenv(provider.key_variable, KEY + "\n")
    ask(provider.make())
    headers = {name.lower(): value for name, value in server.seen[0].headers.items()}
    assert KEY in {headers.get("x-api-key"), headers.get("authorization", "").removeprefix("Bearer ")}


def test_address_from_the_environment(
    provider: Provider, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clients' own variables work, even without a key."""
    monkeypatch.delenv(provider.key_variable)
    monkeypatch.setenv(f"{provider.name.upper()}_BASE_URL", provider.base_url)
    ask(provider.make(base_url=None))
    assert len(server.seen) == 1


def test_anthropic_accepts_an_address_with_a_version(server: WireServer) -> None:
    """Users copy one address for both formats."""
    ask(Provider("anthropic", server).make(base_url=f"{server.address}/v1/"))
    assert server.seen[0].path == "/v1/messages"


def test_local_server_bypasses_the_proxy(
    provider: Provider, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    ask(provider.make(max_retries=0))
    assert len(server.seen) == 1


def test_official_address_has_list_prices(provider: Provider) -> None:
    """Another address has none."""
    model = {"openai": "gpt-6.1-sol", "anthropic": "claude-sonnet-5-5"}[provider.name]
    official, other = provider.make(model, base_url=None), provider.make(model)
    assert official.capabilities.price_known
    assert not other.capabilities.price_known


def test_clients_are_imported_only_when_used() -> None:
    code = (
        "import sys, promptpo.llm, promptpo.llm.prices; "
        "print({'openai', 'anthropic', 'httpx2', 'pydantic', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
