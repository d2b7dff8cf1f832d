"""Choosing a provider from --model or the environment."""

from __future__ import annotations

import pytest

from promptpo.errors import MissingKeyError, UsageError
from promptpo.features.program_search import SearchLLM
from promptpo.llm.choose import DEFAULT_MODELS, PROVIDERS, choose, describe_choice, make_llm
from promptpo.llm.scripted import ScriptedLLM
from tests.promptpo.llm.asking import KEY


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({}, "search"),
        ({"OPENAI_API_KEY": KEY}, f"openai:{DEFAULT_MODELS['openai']}"),
        ({"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}, f"anthropic:{DEFAULT_MODELS['anthropic']}"),
        ({"ANTHROPIC_API_KEY": " "}, "search"),
        ({"ANTHROPIC_API_KEY": KEY, "PROMPTPO_ANTHROPIC_MODEL": "mine"}, "anthropic:mine"),
        ({"ANTHROPIC_API_KEY": KEY, "PROMPTPO_MODEL": "exec:cat"}, "exec:cat"),
    ],
)
def test_default_model_comes_from_the_environment(
    environment: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PROMPTPO_MODEL first, then the keys in their order, then program search."""
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    assert choose().name == name


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("openai:gpt-x", "openai:gpt-x"),
        ("openai", f"openai:{DEFAULT_MODELS['openai']}"),
        ("openai:meta/llama:free", "openai:meta/llama:free"),
        (" anthropic : c ", "anthropic:c"),
        ("exec:python -c 'print(1)'", "exec:python -c 'print(1)'"),
        ("search", "search"),
        ("embedded", "embedded:smollm2"),
        ("gpt-4o", "openai:gpt-4o"),
        ("o3-mini", "openai:o3-mini"),
        ("claude-sonnet-5-5", "anthropic:claude-sonnet-5-5"),
        ("ollama:qwen3:8b", "ollama:qwen3:8b"),
    ],
)
def test_model_name_is_completed_and_normalised(
    given: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It overrides the environment."""
    monkeypatch.setenv("PROMPTPO_MODEL", "exec:cat")
    assert choose(given).name == name


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("opneai:gpt-x", "did you mean openai?"),
        ("gemini-3", "providers are: anthropic, openai, exec, inbox, replay, embedded, search"),
        ("exec", "write exec:COMMAND"),
        ("replay:", "write replay:RUN_OR_FILE"),
        ("search:fast", "search takes no model"),
        ("openai:gpt\x1b]0;title\x07", "control characters"),
        ("inbox", "write inbox:DIR"),
        ("lmstudio", "write lmstudio:NAME"),
    ],
)
def test_unusable_name_is_refused(given: str, says: str) -> None:
    """The sentence contains the nearest name or the expected form."""
    with pytest.raises(UsageError, match=says):
        make_llm(given)


def test_providers_know_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert make_llm("anthropic:c").name == "anthropic:c"
    assert make_llm("exec:cat").name == "exec:cat"
    assert make_llm("openai:m", base_url="http://127.0.0.1:1/v1").name == "openai:m"
    with pytest.raises(MissingKeyError, match="OPENAI_API_KEY"):
        make_llm("openai:m")


@pytest.mark.parametrize(
    ("given", "host", "address"),
    [
        ("ollama:qwen3", "", "http://localhost:11434/v1"),
        ("ollama:qwen3", "0.0.0.0", "http://127.0.0.1:11434/v1"),  # noqa: S104
        ("ollama:qwen3", "http://box:99", "http://box:99/v1"),
        ("ollama:qwen3", ":99", "http://127.0.0.1:99/v1"),
        ("ollama:qwen3", "[::1]:99", "http://[::1]:99/v1"),
        ("ollama:qwen3", "[::]", "http://[::1]:11434/v1"),
        ("ollama:qwen3", "https://box/", "https://box:443/v1"),
        ("lmstudio:m", "box", "http://localhost:1234/v1"),
        ("vllm:m", "", "http://localhost:8000/v1"),
        ("llamacpp:m", "", "http://localhost:8080/v1"),
    ],
)
def test_local_servers_have_default_addresses(
    given: str, host: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They need no key; --base-url overrides the address."""
    monkeypatch.setenv("OLLAMA_HOST", host)
    llm = make_llm(given)
    assert (llm.address, llm.name) == (address, given)
    assert make_llm(given, base_url="http://127.0.0.1:5/v1").address == "http://127.0.0.1:5/v1"


@pytest.mark.parametrize("host", ["localhost:abc", "ftp://box", "a b", "[::1", "http://box/v1"])
def test_an_ollama_host_that_is_no_address(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence names the variable."""
    monkeypatch.setenv("OLLAMA_HOST", host)
    with pytest.raises(UsageError, match=r"OLLAMA_HOST=.* is not an address"):
        make_llm("ollama:qwen3")


def test_program_search_is_no_language_model() -> None:
    """It is the default without a key, and its description says so."""
    llm = make_llm(search=SearchLLM)
    assert (llm.name, llm.capabilities.language_model) == ("search", False)
    line = describe_choice(None, llm)
    assert "no language model" in line
    assert "neither ANTHROPIC_API_KEY nor OPENAI_API_KEY is set" in line
    assert "--model, for example anthropic:MODEL" in line


def test_choice_is_described_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model, the reason, and how to choose another."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    line = describe_choice(None, make_llm())
    assert f"openai:{DEFAULT_MODELS['openai']}, because OPENAI_API_KEY is set" in line
    assert "--model" in line
    assert "\n" not in line
    assert KEY not in line
    assert "as requested" in describe_choice("exec:cat", make_llm("exec:cat"))


@pytest.mark.parametrize(
    ("name", "base_url"),
    [
        ("search", "http://x/v1"),
        ("openai:m", "localhost:8080"),
        ("openai:m", "http://h:port"),
        ("openai:m", "ftp://h"),
    ],
)
def test_unusable_base_url_is_refused(name: str, base_url: str) -> None:
    with pytest.raises(UsageError, match="--base-url"):
        make_llm(name, base_url=base_url)


def test_default_models_belong_to_known_providers() -> None:
    assert set(DEFAULT_MODELS) <= set(PROVIDERS)
    assert ScriptedLLM([]).name not in PROVIDERS
