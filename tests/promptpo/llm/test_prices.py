"""Prices: what is known, what is not, and the arithmetic."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from promptpo.errors import UsageError
from promptpo.llm.base import Usage
from promptpo.llm.choose import DEFAULT_MODELS, KEY_VARIABLES
from promptpo.llm.prices import TABLE, Price, known_prices, price_of, read_prices, user_prices

if TYPE_CHECKING:
    from pathlib import Path

PRICE = Price(input=2.0, output=10.0, cached_input=0.5, cache_write=3.0)


def test_cost_of_a_call() -> None:
    """Each kind of token at its own price, per million."""
    assert PRICE.cost(Usage(1_000_000, 400_000, 100_000), cache_write_tokens=100_000) == pytest.approx(
        0.5 * 2.0 + 0.4 * 0.5 + 0.1 * 3.0 + 0.1 * 10.0
    )


def test_cache_prices_default_to_the_input_price() -> None:
    """A seller without cache prices charges cached tokens in full."""
    assert Price(2.0, 10.0).cost(Usage(1_000_000, 500_000, 0), 250_000) == pytest.approx(2.0)


def test_longer_prompts_have_no_known_price() -> None:
    """Beyond the limit of a price nothing is guessed."""
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
def test_a_dated_name_has_the_price_of_its_model(model: str, name: str | None) -> None:
    """A sibling with a suffix is another model, and an unknown model has no price."""
    table = {"gpt-5": Price(1.0, 1.0), "gpt-5-mini": Price(2.0, 2.0)}
    assert price_of(model, table) == (table[name] if name else None)


def test_earlier_tables_win() -> None:
    """The user's price goes before the built-in one."""
    assert price_of("m", {"m": PRICE}, {"m": Price(9.0, 9.0)}) == PRICE
    assert price_of("n", {"m": PRICE}, {"n": Price(9.0, 9.0)}) == Price(9.0, 9.0)


def test_built_in_table_is_plausible_and_dated() -> None:
    """Every entry has sane proportions, and the file says when and where it was read."""
    table = known_prices()
    assert len(table) > 10
    for name, price in table.items():
        assert 0 < price.input < price.output < 200, name
        assert price.cached_input is not None
        assert price.cached_input < price.input, name
        assert price.cache_write is not None
        assert price.cache_write == pytest.approx(1.25 * price.input), name
    text = TABLE.read_text(encoding="utf-8")
    assert re.search(r"^read = \d{4}-\d{2}-\d{2}$", text, re.MULTILINE)
    assert "https://" in text


def test_default_models_have_a_price() -> None:
    """--max-usd works with the models that are chosen by default."""
    for provider in KEY_VARIABLES.values():
        assert price_of(DEFAULT_MODELS[provider], known_prices()) is not None


def test_users_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PROMPTPO_PRICES names it; without it there is none."""
    assert user_prices() == {}
    path = tmp_path / "prices.toml"
    path.write_text('[models."m"]\ninput = 1\noutput = 2\n', encoding="utf-8")
    monkeypatch.setenv("PROMPTPO_PRICES", str(path))
    assert user_prices() == {"m": Price(1.0, 2.0)}


@pytest.mark.parametrize(
    "content",
    [None, "not toml [", "x = 1\n", '[models."m"]\ninput = "cheap"\noutput = 2\n', '[models."m"]\n'],
)
def test_damaged_table(tmp_path: Path, content: str | None) -> None:
    """One sentence names the file."""
    path = tmp_path / "prices.toml"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=re.escape(str(path))):
        read_prices(path)
