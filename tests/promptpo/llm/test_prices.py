"""Known and unknown prices, and the cost of a call."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from promptpo.errors import UsageError
from promptpo.llm.base import Usage
from promptpo.llm.choose import DEFAULT_MODELS, KEY_VARIABLES
from promptpo.llm.prices import Price, list_price, parse_price, price_in, price_of, user_prices

if TYPE_CHECKING:
    from pathlib import Path

PRICE = Price(input=2.0, output=10.0, cached_input=0.5, cache_write=3.0)


def test_cost_of_a_call() -> None:
    """Each kind of token has its own price, per million."""
    assert PRICE.cost(Usage(1_000_000, 400_000, 100_000, cache_write_tokens=100_000)) == pytest.approx(
        0.5 * 2.0 + 0.4 * 0.5 + 0.1 * 3.0 + 0.1 * 10.0
    )


def test_cache_prices_default_to_the_input_price() -> None:
    assert Price(2.0, 10.0).cost(Usage(1_000_000, 500_000, 0, cache_write_tokens=250_000)) == pytest.approx(
        2.0
    )


def test_longer_prompts_have_no_known_price() -> None:
    """A price holds up to a prompt length."""
    price = Price(1.0, 1.0, up_to=1000)
    assert price.cost(Usage(1000, 0, 0)) == pytest.approx(0.001)
    assert price.cost(Usage(1001, 0, 0)) is None


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-5", "gpt-5"),
        ("gpt-5-2026-01-02", "gpt-5"),
        ("gpt-5-20260102", "gpt-5"),
        ("gpt-5-latest", "gpt-5"),
        ("gpt-5@20260102", "gpt-5"),
        ("gpt-5-mini", "gpt-5-mini"),
        ("gpt-5-mini-2026-01-02", "gpt-5-mini"),
        ("gpt-5-nano", None),
        ("gpt-5.5", None),
        ("my-gpt-5", None),
        ("gpt-5-", None),
        ("gpt", None),
        ("", None),
    ],
)
def test_dated_model_name_has_the_models_price(model: str, name: str | None) -> None:
    """A name with another suffix is another model."""
    table = {"gpt-5": Price(1.0, 1.0), "gpt-5-mini": Price(2.0, 2.0)}
    assert price_in(table, model) == (table[name] if name else None)


@pytest.mark.parametrize("provider", KEY_VARIABLES.values())
def test_default_models_have_a_price(provider: str) -> None:
    """So that --max-usd works with them, dated names included."""
    model = DEFAULT_MODELS[provider]
    for name in (model, f"{model}-20261001" if provider == "anthropic" else f"{model}-2026-10-01"):
        price = list_price(provider, model)
        assert price is not None, name
        assert 0 < price.cost(Usage(1000, 0, 1000)) < 0.2  # known, see above


def test_each_kind_of_token_has_its_list_price() -> None:
    """Cached tokens are part of the input tokens, and nothing is counted twice."""
    price = list_price("anthropic", "claude-sonnet-4-5")
    assert price is not None
    tokens = 100_000  # below the length at which this model's prices change
    plain, cached, written, output = (
        price.cost(usage)
        for usage in (
            Usage(tokens, 0, 0),
            Usage(tokens, tokens, 0),
            Usage(tokens, 0, 0, cache_write_tokens=tokens),
            Usage(0, 0, tokens),
        )
    )
    assert (plain, cached, written, output) == pytest.approx((0.3, 0.03, 0.375, 1.5))
    together = price.cost(Usage(3 * tokens // 2, tokens // 2, tokens, cache_write_tokens=tokens // 2))
    assert together == pytest.approx((plain + cached + written) / 2 + output)


def test_list_price_rises_for_long_prompts() -> None:
    price = list_price("anthropic", "claude-sonnet-4-5")
    assert price is not None
    assert price.cost(Usage(300_000, 0, 0)) > 3 * price.cost(Usage(100_000, 0, 0))


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-5-bananas"),
        ("openai", "my-gpt-5"),
        ("anthropic", "gpt-5"),
        ("anthropic", "claude-sonnet-99"),
        ("openai", ""),
        ("vllm", "gpt-5"),
    ],
)
def test_unlisted_model_has_no_price(provider: str, model: str) -> None:
    """Prices of related models are not used."""
    assert price_of(provider, model) is None


def test_users_price_overrides_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list applies only to the seller's own address."""
    assert price_of("openai", "gpt-5", listed=False) is None
    path = tmp_path / "prices.toml"
    path.write_text('[models."gpt-5"]\ninput = 1\noutput = 2\n', encoding="utf-8")
    monkeypatch.setenv("PROMPTPO_PRICES", str(path))
    assert price_of("openai", "gpt-5") == price_of("openai", "gpt-5", listed=False) == Price(1.0, 2.0)


def test_list_prices_need_no_network() -> None:
    """They are data of a package."""
    code = (
        "import socket\n"
        "def refused(*_, **__): raise OSError('network used')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refused\n"
        "from promptpo.llm.prices import price_of\n"
        "assert price_of('openai', 'gpt-5') is not None\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_stated_price_is_parsed() -> None:
    assert parse_price(None) is None
    assert parse_price("2.5, 10") == (2.5, 10.0)


@pytest.mark.parametrize("text", ["", "1", "1,2,3", "a,b", "-1,2", "1,inf", "nan,1", "1;2"])
def test_malformed_price_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--price takes IN,OUT"):
        parse_price(text)


def test_users_table_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert user_prices() == {}
    path = tmp_path / "prices.toml"
    path.write_text('[models."m"]\ninput = 1\noutput = 2\n', encoding="utf-8")
    monkeypatch.setenv("PROMPTPO_PRICES", str(path))
    assert user_prices() == {"m": Price(1.0, 2.0)}


@pytest.mark.parametrize(
    "content",
    [None, "not toml [", "x = 1\n", '[models."m"]\ninput = "cheap"\noutput = 2\n', '[models."m"]\n'],
)
def test_damaged_table_is_named(tmp_path: Path, content: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "prices.toml"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    monkeypatch.setenv("PROMPTPO_PRICES", str(path))
    with pytest.raises(UsageError, match=re.escape(str(path))):
        user_prices()
