"""Quirks of compatible servers: each of them ends with the policy, or with one sentence that helps."""

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
    """Gives up soon."""

    timeout = 20.0
    max_retries, busy_retries = 1, 9


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch) -> Iterator[OddServer]:
    """A fresh server, and no pauses."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server = OddServer()
    yield server
    server.close()


def answer(server: OddServer, model: str, **settings: Any) -> Completion:
    """The answer of one model; the prompts' limit of tokens is above the server's."""
    [completion] = ask(Quick(model, base_url=server.address), replace(REQUEST, **settings))
    return completion


@pytest.mark.parametrize("way", [f"stream/{name}" for name in STREAMS])
def test_the_text_is_found_wherever_it_stands(odd: OddServer, way: str) -> None:
    """As text, as parts, in a field for reasoning, or as the argument of a tool; one call, tokens as counted, no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        completion = answer(odd, way)
    assert FINAL in extract_program(completion.text).source
    assert (completion.usage.input_tokens, completion.usage.output_tokens) == (1000, 100)
    assert len(odd.asked) == 1


@pytest.mark.parametrize(
    "name", ["plain", "texts", "part alone", "reasoning parts", "other field", "details", "text"]
)
def test_whole_answers_are_read_like_streamed_ones(odd: OddServer, name: str) -> None:
    """Some servers answer at once, and older ones put the text where no message is."""
    text = answer(odd, f"whole/{name}").text
    assert FINAL in text or name == "texts"
    assert len(odd.asked) == 1


@pytest.mark.parametrize("name", ["reasoning beside", "reasoning alone", "tool", "plain"])
def test_tokens_that_nobody_counts_are_estimated_from_all_that_was_written(odd: OddServer, name: str) -> None:
    """Reasoning included: it fills the same limits."""
    written = sum(
        len(str(part)) for delta in STREAMS[name] for part in delta.values() if isinstance(part, str)
    )
    usage = answer(odd, f"uncounted/{name}").usage
    assert usage.output_tokens >= written / 4
    assert usage.estimated_tokens == usage.total


def test_a_message_in_the_place_of_a_delta_is_read(odd: OddServer) -> None:
    """Gateways send the whole message in one event."""
    assert FINAL in answer(odd, "message/whole").text


@pytest.mark.parametrize("name", REFUSALS_OF_SYSTEM)
def test_a_system_prompt_that_is_refused_goes_before_the_first_turn(odd: OddServer, name: str) -> None:
    """The call is made again without it."""
    llm = Quick(f"system/{name}", base_url=odd.address)
    [completion] = ask(llm)
    assert FINAL in completion.text
    assert [[turn["role"] for turn in body["messages"]] for body in odd.asked] == [
        ["system", "user"],
        ["user"],
    ]
    assert odd.asked[1]["messages"][0]["content"] == "You write policies.\n\nWrite one."


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_is_lowered_to_what_the_server_names(odd: OddServer, name: str) -> None:
    """In the words of six services; what the prompt takes of a context is left to it."""
    assert FINAL in answer(odd, f"limit/{name}", max_output_tokens=16384).text
    assert [body["max_tokens"] for body in odd.asked] == [16384, LIMIT]


@given(st.text(max_size=80), st.integers(300, 10**6))
def test_a_named_limit_is_lower_than_what_was_asked_for(said: str, limit: int) -> None:
    """Whatever an error says."""
    error = SimpleNamespace(status_code=400, body={"error": {"message": f"max_tokens {said}"}})
    lower = find_token_limit(error, limit)
    assert lower is None or 256 <= lower.tokens < limit


def test_a_limit_without_room_for_a_policy_is_none() -> None:
    """The flag is named instead."""
    error = SimpleNamespace(status_code=400, body={"error": {"message": "max_tokens must be at most 5"}})
    assert find_token_limit(error, 4096) is None


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_in_an_answer_is_told_in_the_servers_words(odd: OddServer, name: str) -> None:
    """After it was waited for; nothing is said of --base-url."""
    with pytest.raises(ProviderError, match="Provider returned error") as caught:
        answer(odd, f"error/{name}")
    assert "--base-url" not in str(caught.value)
    assert "500" not in str(caught.value)
    assert FINAL in answer(odd, f"error once/{name}").text


@pytest.mark.parametrize("name", NOWHERE)
def test_a_wrong_path_is_asked_once_and_named(odd: OddServer, name: str) -> None:
    """Whatever its status: no later call can be answered there."""
    with pytest.raises(FatalProviderError, match="usually ends in /v1"):
        answer(odd, f"fails/{name}")
    assert len(odd.asked) == 1


def test_a_prompt_that_is_too_long_is_told_once(odd: OddServer) -> None:
    """Also in a response of status 200: the same prompt is as long a second later."""
    with pytest.raises(ProviderError, match="lower --max-prompt-tokens"):
        answer(odd, "fails/long")
    assert len(odd.asked) == 1


def test_a_model_that_is_being_loaded_is_waited_for(odd: OddServer) -> None:
    """As long as it takes, within the run's own limits."""
    odd.loading = 8
    assert FINAL in answer(odd, "loading/").text
    assert len(odd.asked) == 9


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS", "model_length", "error"])
def test_an_answer_that_was_cut_off_is_known_by_other_names(odd: OddServer, reason: str) -> None:
    """Services name the end at the limit of tokens differently."""
    assert answer(odd, f"stop/{reason}").finish == "length"


@pytest.mark.parametrize("reason", ["stop", "eos", "end_turn", "STOP", "tool_calls"])
def test_an_answer_that_ended_by_itself_is_not_cut_off(odd: OddServer, reason: str) -> None:
    """And they name that end differently too."""
    assert answer(odd, f"stop/{reason}").finish == "stop"


def test_what_arrived_before_an_error_is_kept(odd: OddServer, caplog: pytest.LogCaptureFixture) -> None:
    """As an answer that was cut off, with the server's words."""
    completion = answer(odd, "midway/")
    assert "reported an error (Provider disconnected) after 60 characters" in caplog.text
    assert completion.finish == "length"
    assert "class Policy" in completion.text


@pytest.mark.parametrize(
    "body",
    [{"error": {"message": "no"}}, {"error": "no"}, {"detail": "no"}, {"detail": [{"msg": "no"}]}, {"message": "no"},
     [{"error": {"message": "no"}}], "no"],
)  # fmt: skip
def test_a_servers_words_are_found_in_any_form(body: Any) -> None:
    """OpenAI's, Ollama's, FastAPI's, vLLM's and Google's."""
    assert server_message(body) == "no"


def test_a_field_that_is_refused_is_named() -> None:
    """FastAPI's words alone do not say of what they speak."""
    assert server_message({"detail": [{"loc": ["body", "max_tokens"], "msg": "no"}]}) == "max_tokens: no"


def test_other_errors_are_no_refusal_of_a_system_prompt() -> None:
    """A busy system, say."""
    busy = SimpleNamespace(status_code=500, body={"error": {"message": "The system is overloaded"}})
    assert not refuses_system(busy)


PROXIES = ["socks://127.0.0.1:9/", "socks5://127.0.0.1:9/", "ftp://127.0.0.1:9"]


@pytest.mark.parametrize("variable", ["ALL_PROXY", "all_proxy"])
@pytest.mark.parametrize("proxy", PROXIES)
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_proxy_that_cannot_be_used_is_named(
    provider: str, proxy: str, variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """In one sentence, before there is a run."""
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", KEY)
    monkeypatch.setenv(variable, proxy)
    out = tmp_path / "run"
    assert run(["optimize", "CartPole-v1", "--model", f"{provider}:m", "--out", str(out)]) != 0
    said = capsys.readouterr().err
    if proxy.startswith("socks5") and "socksio" not in said:
        pytest.skip("socksio is installed")
    assert f"{variable}={proxy}" in said
    assert "Traceback" not in said
    assert not out.exists()


def test_certificates_that_cannot_be_read_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable and its value."""
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
def test_this_machine_has_several_names(address: str | None) -> None:
    """Its own name, names below it, and every address of the loopback."""
    assert is_local(address) == (address in THIS_MACHINE)


@pytest.mark.parametrize("proxy", PROXIES)
def test_this_machine_is_asked_whatever_the_proxy(
    odd: OddServer, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also past one that cannot be used, and past certificates that nobody needs: none are read, which takes longer than a call."""
    monkeypatch.setenv("ALL_PROXY", proxy)
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", None)
    monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent")
    assert FINAL in answer(odd, "stream/plain").text


@pytest.mark.slow
def test_a_run_with_an_odd_server(odd: OddServer, tmp_path: Path, capsys: Any) -> None:
    """The check before it, the run, and a name that the server does not list."""
    out = tmp_path / "run"
    said = ["optimize", "CartPole-v1", "--base-url", odd.address, *QUICK]
    assert run([*said, "--model", "openai:system/template", "--out", str(out)]) == 0
    assert json.loads((out / "result.json").read_text())["test"]["mean_return"] == 500
    odd.models = ["plant-coder-7b"]
    before = len(odd.asked)
    assert run([*said, "--model", "openai:plant-coder", "--out", str(tmp_path / "other")]) == 1
    assert "did you mean plant-coder-7b?" in capsys.readouterr().err
    assert len(odd.asked) == before


def test_a_run_with_a_server_that_stays_down(
    odd: OddServer, tmp_path: Path, capsys: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Each retry is told, the calls of a round share them, and the last line says what the server said."""
    out = tmp_path / "run"
    odd.models = ["fails/memory"]
    said = ["optimize", "CartPole-v1", "--base-url", odd.address, "--max-steps", "2000", "--no-film"]
    assert run([*said, "--model", "openai:fails/memory", "--out", str(out)]) == 1
    assert caplog.text.count("Trying again in") == 4
    assert (
        capsys.readouterr()
        .err.splitlines()[-1]
        .endswith("failed with status 500 (CUDA error: out of memory).")
    )
    assert len(odd.asked) == 1 + 4 + 4  # for the first call, its retries, and each of the four of the round
