"""Compute the cost of calls if the model's price is known.

List prices come with the package genai-prices and are never fetched. The price of a model without a list price is
unknown, and so is the cost of its calls. The user's prices take precedence: ``--price`` for one run, and the file in
``PROMPTPO_PRICES`` for newer models, discounts and other sellers.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.errors import UsageError
from promptpo.files import read_toml

if TYPE_CHECKING:
    from promptpo.llm.base import Pricing, Usage

VARIABLE = "PROMPTPO_PRICES"


@dataclass(frozen=True, slots=True)
class Price:
    """The user's prices, in US dollars per million tokens.

    Attributes:
        input: Price of prompt tokens that were not cached.
        output: Price of generated tokens, including reasoning.
        cached_input: Price of prompt tokens read from the cache; None for `input`.
        cache_write: Price of prompt tokens written to the cache; None for `input`.
        up_to: Prompt length in tokens up to which the prices hold; None for no limit.
    """

    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None
    up_to: int | None = None

    def cost(self, usage: Usage) -> float | None:
        """Return the cost of one call in US dollars; None for a prompt longer than `up_to`."""
        if self.up_to is not None and usage.input_tokens > self.up_to:
            return None
        dollars = usage.input_tokens * self.input + usage.output_tokens * self.output
        kinds = ((usage.cached_input_tokens, self.cached_input), (usage.cache_write_tokens, self.cache_write))
        dollars += sum(count * (price - self.input) for count, price in kinds if price is not None)
        return dollars / 1_000_000


@dataclass(frozen=True, slots=True)
class ListPrice:
    """The seller's list price, including steps for long prompts.

    Attributes:
        provider: The seller's name in genai-prices.
        model: The seller's name of the model; must be on its list.
    """

    provider: str
    model: str

    def cost(self, usage: Usage) -> float:
        """Return the cost of one call in US dollars; raise LookupError if the model is not on the list."""
        from genai_prices import Usage as Priced
        from genai_prices import calc_price

        priced = Priced(
            input_tokens=usage.input_tokens,
            cache_read_tokens=usage.cached_input_tokens,
            cache_write_tokens=usage.cache_write_tokens,
            output_tokens=usage.output_tokens,
        )
        return float(calc_price(priced, self.model, provider_id=self.provider).total_price)


Prices = Mapping[str, Price]
"""Model name, without a version suffix, to its price."""


def price_of(provider: str, model: str, *, listed: bool = True) -> Pricing | None:
    """Return the price of a model: the user's, else the seller's; None if neither is known.

    Args:
        provider: The provider as in ``--model provider:MODEL``.
        model: The provider's name of the model.
        listed: Whether the seller itself answers; servers at other addresses have no list price.

    Raises:
        UsageError: The user's price file cannot be read.
    """
    return price_in(user_prices(), model) or (list_price(provider, model) if listed else None)


def list_price(provider: str, model: str) -> ListPrice | None:
    """Return the seller's price; None if the model is not on the list."""
    from promptpo.llm.base import Usage

    found = ListPrice(provider, model)
    try:
        found.cost(Usage())
    except LookupError:
        return None
    return found


def price_in(table: Prices, model: str) -> Price | None:
    """Return the price of a model in the user's table; None if it is not there.

    A name with a date or "-latest" at its end ("gpt-5.5-2026-04-23") has the price of the name without it, unless
    listed itself; "gpt-5.5-mini" is another model than "gpt-5.5".
    """
    return table.get(model) or table.get(_VERSION.sub("", model))


_VERSION = re.compile(r"[-@:](latest|\d{4}-?\d{2}-?\d{2})$")


def user_prices() -> Prices:
    """Read the user's prices from the TOML file in ``PROMPTPO_PRICES``: ``[models."NAME"]`` with the fields of `Price`.

    Raises:
        UsageError: The file cannot be read, or has another form.
    """
    from pydantic import TypeAdapter, ValidationError

    path = os.environ.get(VARIABLE)
    if not path:
        return {}
    table = read_toml(Path(path))
    try:
        return TypeAdapter(dict[str, Price]).validate_python(table.get("models"))
    except ValidationError as error:
        raise UsageError(
            f'{path} is not a price table: write [models."NAME"] with input and output in US dollars '
            f"per million tokens ({str(error).splitlines()[0]})."
        ) from error


def parse_price(given: Any) -> tuple[float, float] | None:
    """Parse a price in US dollars per million input and output tokens, a pair or ``IN,OUT``; None if not given.

    Raises:
        UsageError: The value is no such pair.
    """
    if given is None:
        return None
    try:
        prompt, answer = map(float, given.split(",") if isinstance(given, str) else given)
    except (TypeError, ValueError):
        prompt = answer = math.nan
    if not (0 <= prompt < math.inf and 0 <= answer < math.inf):
        raise UsageError(
            f"--price takes IN,OUT, the prices of input and output in US dollars per million tokens, "
            f"such as 2.5,10, not {given}."
        )
    return prompt, answer
