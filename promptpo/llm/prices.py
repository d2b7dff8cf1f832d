"""What a call costs, where the price is known.

The table ``prices.toml`` is dated and names its sources. A model that is not in it has no price, and
its calls have no cost: nothing is guessed. ``PROMPTPO_PRICES`` names a file of the same form whose
entries go first, for newer models, discounts and other sellers.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from promptpo.errors import UsageError

if TYPE_CHECKING:
    from promptpo.llm.base import Usage

TABLE = Path(__file__).with_name("prices.toml")
VARIABLE = "PROMPTPO_PRICES"

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens.

    Attributes:
        input: Prompt tokens that were not in the cache.
        output: Generated tokens, reasoning included.
        cached_input: Prompt tokens read from the cache; None means as `input`.
        cache_write: Prompt tokens written to the cache; None means as `input`.
        up_to: Prompts longer than this many tokens have another price, which is not known here.
    """

    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None
    up_to: int | None = None

    def cost(self, usage: Usage, cache_write_tokens: int = 0) -> float | None:
        """Dollars for one call; None for a prompt beyond `up_to`.

        Args:
            usage: Its tokens.
            cache_write_tokens: How many of the input tokens were written to the cache.
        """
        if self.up_to is not None and usage.input_tokens > self.up_to:
            return None
        plain = usage.input_tokens - usage.cached_input_tokens - cache_write_tokens
        cached = self.input if self.cached_input is None else self.cached_input
        written = self.input if self.cache_write is None else self.cache_write
        dollars = (
            plain * self.input
            + usage.cached_input_tokens * cached
            + cache_write_tokens * written
            + usage.output_tokens * self.output
        )
        return dollars / MILLION


Prices = Mapping[str, Price]
"""Model name, or the beginning of one, to its price."""


def read_prices(path: Path) -> Prices:
    """The table in a TOML file: ``[models."NAME"]`` with the fields of `Price`.

    Raises:
        UsageError: The file cannot be read as such a table.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        return TypeAdapter(dict[str, Price]).validate_python(table.get("models"))
    except OSError as error:
        raise UsageError(f"cannot read the prices in {path}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValidationError) as error:
        raise UsageError(
            f'{path} is not a price table: write [models."NAME"] with input and output in US dollars '
            f"per million tokens ({str(error).splitlines()[0]})."
        ) from error


def user_prices() -> Prices:
    """The table that ``PROMPTPO_PRICES`` names; empty without one.

    Raises:
        UsageError: The file cannot be read.
    """
    path = os.environ.get(VARIABLE)
    return read_prices(Path(path)) if path else {}


def known_prices() -> Prices:
    """The table that comes with promptpo."""
    return read_prices(TABLE)


def price_of(model: str, *tables: Prices) -> Price | None:
    """The price of a model in the first table that has one.

    A dated or suffixed name ("gpt-5.5-2026-04-23") has the price of the longest name that it extends at
    a date or at "-latest"; "gpt-5.5-mini" is another model than "gpt-5.5", not an extension of it.

    Args:
        model: As the provider calls it.
        tables: Asked in this order.
    """
    for table in tables:
        matches = [name for name in table if _is_version_of(model, name)]
        if matches:
            return table[max(matches, key=len)]
    return None


_VERSION = re.compile(r"[-@:](latest|\d{4}-?\d{2}-?\d{2})")


def _is_version_of(model: str, name: str) -> bool:
    return model.startswith(name) and bool(_VERSION.fullmatch(model[len(name) :] or "-latest"))
