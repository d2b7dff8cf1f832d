"""Quirks of OpenAI-compatible servers: each ends with the policy or with one helpful sentence."""

from __future__ import annotations

import json
import ssl
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.cli.app import run
from promptpo.errors import FatalProviderError, ProviderError, UsageError
from promptpo.llm.base import Completion
from promptpo.llm.compatible import find_token_limit, is_local, refuses_system, server_message
from promptpo.llm.openai import OpenAILLM
from promptpo.program.answers import extract_program
from tests.promptpo.llm.asking import KEY, REQUEST, ask
from tests.promptpo.llm.odd_server import (
    ERRORS,
    LIMIT,
    LIMITS,
    NOWHERE,
    REFUSALS_OF_SYSTEM,
    STREAMS,
    OddServer,
)

QUICK = ["--rounds", "1", "-n", "1", "--max-steps", "2000", "--test-episodes", "2", "--no-film", "--tune", "none", "--quiet"]  # fmt: skip
FINAL = "obs[2] + 0.4 * obs[3]"


class Quick(OpenAILLM):
    """A provider with short limits."""

    timeout = 20.0
    max_retries, busy_retries = 1, 9


@pytest.fixture
def odd_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OddServer]:
    """A fresh server and a key."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server = OddServer()
    yield server
    server.close()


def complete(server: OddServer, model: str, **settings: Any) -> Completion:
    """Return one model's answer; the default token limit exceeds the server's."""
    [completion] = ask(Quick(model, base_url=server.address), replace(REQUEST, **settings))
    return completion


@pytest.mark.parametrize("way", [f"stream/{name}" for name in STREAMS])
def test_text_is_found_in_every_field(odd_server: OddServer, way: str) -> None:
    """Text, parts, reasoning fields and tool arguments; one call, tokens as counted, no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        completion = complete(odd_server, way)
    assert FINAL in extract_program(completion.text).source
    assert (completion.usage.input_tokens, completion.usage.output_tokens) == (1000, 100)
    assert len(odd_server.asked) == 1


@pytest.mark.parametrize(
    "name", ["plain", "texts", "part alone", "reasoning parts", "other field", "details", "text"]
)
def test_whole_answers_are_read_like_streamed_ones(odd_server: OddServer, name: str) -> None:
    """Some servers do not stream, and older ones put the text outside a message."""
    text = complete(odd_server, f"whole/{name}").text
    assert FINAL in text or name == "texts"
    assert len(odd_server.asked) == 1


@pytest.mark.parametrize("name", ["reasoning beside", "reasoning alone", "tool", "plain"])
def test_uncounted_tokens_are_estimated_including_reasoning(odd_server: OddServer, name: str) -> None:
    """Reasoning counts against the same limits."""
    written = sum(
        len(str(part)) for delta in STREAMS[name] for part in delta.values() if isinstance(part, str)
    )
    usage = complete(odd_server, f"uncounted/{name}").usage
    assert usage.output_tokens >= written / 4
    assert usage.estimated_tokens == usage.total


def test_message_in_place_of_a_delta_is_read(odd_server: OddServer) -> None:
    """Some gateways send the whole message in one event."""
    assert FINAL in complete(odd_server, "message/whole").text


@pytest.mark.parametrize("name", REFUSALS_OF_SYSTEM)
def test_refused_system_prompt_moves_into_the_first_turn(odd_server: OddServer, name: str) -> None:
    llm = Quick(f"system/{name}", base_url=odd_server.address)
    [completion] = ask(llm)
    assert FINAL in completion.text
    assert [[turn["role"] for turn in body["messages"]] for body in odd_server.asked] == [
        ["system", "user"],
        ["user"],
    ]
    assert odd_server.asked[1]["messages"][0]["content"] == "You write policies.\n\nWrite one."


@pytest.mark.parametrize("name", LIMITS)
def test_token_limit_is_lowered_to_the_servers(odd_server: OddServer, name: str) -> None:
    """The refusals are those of nine services; a limit on the context leaves room for the prompt."""
    assert FINAL in complete(odd_server, f"limit/{name}", max_output_tokens=16384).text
    assert [body["max_tokens"] for body in odd_server.asked] == [16384, LIMIT]


@given(st.text(max_size=80), st.integers(300, 10**6))
def test_limit_from_an_error_is_always_lower(words: str, limit: int) -> None:
    """Whatever the error says."""
    error = SimpleNamespace(status_code=400, body={"error": {"message": f"max_tokens {words}"}})
    lower = find_token_limit(error, limit)
    assert lower is None or 256 <= lower.tokens < limit


def test_limit_too_small_for_a_policy_is_ignored() -> None:
    """The error then names the flag."""
    error = SimpleNamespace(status_code=400, body={"error": {"message": "max_tokens must be at most 5"}})
    assert find_token_limit(error, 4096) is None


@pytest.mark.parametrize("name", ERRORS)
def test_error_in_an_answer_is_retried_and_quoted(odd_server: OddServer, name: str) -> None:
    """It is no reason to suggest --base-url."""
    with pytest.raises(ProviderError, match="Provider returned error") as caught:
        complete(odd_server, f"error/{name}")
    assert "--base-url" not in str(caught.value)
    assert "500" not in str(caught.value)
    assert FINAL in complete(odd_server, f"error once/{name}").text


@pytest.mark.parametrize("name", NOWHERE)
def test_wrong_path_is_requested_once_and_named(odd_server: OddServer, name: str) -> None:
    """Whatever its status, no later call could succeed there."""
    with pytest.raises(FatalProviderError, match="usually ends in /v1"):
        complete(odd_server, f"fails/{name}")
    assert len(odd_server.asked) == 1


def test_too_long_prompt_is_not_retried(odd_server: OddServer) -> None:
    """Also if the status is 200."""
    with pytest.raises(ProviderError, match="lower --max-prompt-tokens"):
        complete(odd_server, "fails/long")
    assert len(odd_server.asked) == 1


def test_loading_model_is_waited_for(odd_server: OddServer) -> None:
    """Beyond the usual number of retries."""
    odd_server.loading = 8
    assert FINAL in complete(odd_server, "loading/").text
    assert len(odd_server.asked) == 9


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS", "model_length", "error"])
def test_every_name_for_a_token_limit_means_length(odd_server: OddServer, reason: str) -> None:
    """Services differ in their finish reasons."""
    assert complete(odd_server, f"stop/{reason}").finish == "length"


@pytest.mark.parametrize("reason", ["stop", "eos", "end_turn", "STOP", "tool_calls"])
def test_every_name_for_a_normal_end_means_stop(odd_server: OddServer, reason: str) -> None:
    assert complete(odd_server, f"stop/{reason}").finish == "stop"


def test_partial_answer_before_an_error_is_kept(
    odd_server: OddServer, caplog: pytest.LogCaptureFixture
) -> None:
    """It counts as cut off, with the server's words in the log."""
    completion = complete(odd_server, "midway/")
    assert "reported an error (Provider disconnected) after 60 characters" in caplog.text
    assert completion.finish == "length"
    assert "class Policy" in completion.text


@pytest.mark.parametrize(
    "body",
    [{"error": {"message": "no"}}, {"error": "no"}, {"detail": "no"}, {"detail": [{"msg": "no"}]}, {"message": "no"},
     [{"error": {"message": "no"}}], "no"],
)  # fmt: skip
def test_error_message_is_found_in_every_format(body: Any) -> None:
    """OpenAI's, Ollama's, FastAPI's, vLLM's and Google's."""
    assert server_message(body) == "no"


def test_refused_field_is_named() -> None:
    """FastAPI's message alone does not name it."""
    assert server_message({"detail": [{"loc": ["body", "max_tokens"], "msg": "no"}]}) == "max_tokens: no"


def test_other_errors_are_no_refusal_of_a_system_prompt() -> None:
    """Such as an overloaded system."""
    busy = SimpleNamespace(status_code=500, body={"error": {"message": "The system is overloaded"}})
    assert not refuses_system(busy)


PROXIES = ["socks://127.0.0.1:9/", "socks5://127.0.0.1:9/", "ftp://127.0.0.1:9"]


@pytest.mark.parametrize("variable", ["ALL_PROXY", "all_proxy"])
@pytest.mark.parametrize("proxy", PROXIES)
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_unusable_proxy_is_named(
    provider: str, proxy: str, variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """In one sentence, before there is a run."""
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", KEY)
    monkeypatch.setenv(variable, proxy)
    out = tmp_path / "run"
    assert run(["optimize", "CartPole-v1", "--model", f"{provider}:m", "--out", str(out)]) != 0
    err = capsys.readouterr().err
    if proxy.startswith("socks5") and "socksio" not in err:
        pytest.skip("socksio is installed")
    assert f"{variable}={proxy}" in err
    assert "Traceback" not in err
    assert not out.exists()


def test_unreadable_certificates_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence has the variable and its value."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent")
    with pytest.raises(UsageError, match="SSL_CERT_FILE=/nonexistent"):
        OpenAILLM("m")


THIS_MACHINE = [
    "http://localhost:1/v1",
    "http://a.localhost",
    "http://127.0.0.9",
    "http://[::1]:1",
    "http://0.0.0.0:8080",
]


@pytest.mark.parametrize(
    "address", [*THIS_MACHINE, "http://mylocalhost", "https://api.openai.com/v1", "http://10.0.0.1", None]
)
def test_local_addresses_are_recognised(address: str | None) -> None:
    """localhost, names below it, and every loopback address."""
    assert is_local(address) == (address in THIS_MACHINE)


@pytest.mark.parametrize("proxy", PROXIES)
def test_local_server_bypasses_proxy_and_certificates(
    odd_server: OddServer, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loading certificates would take longer than a call."""
    monkeypatch.setenv("ALL_PROXY", proxy)
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", None)
    monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent")
    assert FINAL in complete(odd_server, "stream/plain").text


@pytest.mark.slow
def test_run_with_an_odd_server(odd_server: OddServer, tmp_path: Path, capsys: Any) -> None:
    """It works with a quirk, and refuses a model that the server does not list."""
    out = tmp_path / "run"
    arguments = ["optimize", "CartPole-v1", "--base-url", odd_server.address, *QUICK]
    assert run([*arguments, "--model", "openai:system/template", "--out", str(out)]) == 0
    assert json.loads((out / "result.json").read_text())["test"]["mean_return"] == 500
    odd_server.models = ["plant-coder-7b"]
    before = len(odd_server.asked)
    assert run([*arguments, "--model", "openai:plant-coder", "--out", str(tmp_path / "other")]) == 1
    assert "did you mean plant-coder-7b?" in capsys.readouterr().err
    assert len(odd_server.asked) == before


def test_run_with_a_server_that_stays_down(
    odd_server: OddServer, tmp_path: Path, capsys: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Retries are logged and shared by the calls of a round, and the last line quotes the server."""
    out = tmp_path / "run"
    odd_server.models = ["fails/memory"]
    arguments = [
        "optimize",
        "CartPole-v1",
        "--base-url",
        odd_server.address,
        "--max-steps",
        "2000",
        "--no-film",
    ]
    assert run([*arguments, "--model", "openai:fails/memory", "--out", str(out)]) == 1
    assert caplog.text.count("Trying again in") == 4
    assert (
        capsys.readouterr()
        .err.splitlines()[-1]
        .endswith("failed with status 500 (CUDA error: out of memory).")
    )
    assert len(odd_server.asked) == 1 + 4 + 4  # the first call, its retries, and the four calls of the round
