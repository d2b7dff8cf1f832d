"""Cost of a call, if the model's price is known.

List prices are genai-prices' own, which come with that package and are never fetched. A model that is not
among them has no price, and its calls have no cost: nothing is guessed. The user's prices go first:
``--price`` for one run, and the file that ``PROMPTPO_PRICES`` names for newer models, discounts and other sellers.
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
    """US dollars per million tokens, as a user states them.

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

    def cost(self, usage: Usage) -> float | None:
        """US dollars for one call; None for a prompt beyond `up_to`."""
        if self.up_to is not None and usage.input_tokens > self.up_to:
            return None
        dollars = usage.input_tokens * self.input + usage.output_tokens * self.output
        kinds = ((usage.cached_input_tokens, self.cached_input), (usage.cache_write_tokens, self.cache_write))
        dollars += sum(count * (price - self.input) for count, price in kinds if price is not None)
        return dollars / 1_000_000


@dataclass(frozen=True, slots=True)
class ListPrice:
    """The seller's own price, with its steps for long prompts.

    Attributes:
        provider: The seller, as genai-prices calls it.
        model: As the seller calls it; must be on its list.
    """

    provider: str
    model: str

    def cost(self, usage: Usage) -> float:
        """US dollars for one call; raises LookupError where the model is not on the list."""
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
"""Model name, or the beginning of one, to its price."""


def price_of(provider: str, model: str, *, listed: bool = True) -> Pricing | None:
    """The price of a model: the user's, else the seller's own; None where neither is known.

    Args:
        provider: As in ``--model provider:MODEL``.
        model: As the provider calls it.
        listed: The seller itself is asked; what another one at another address charges is on no list.

    Raises:
        UsageError: The user's price file cannot be read.
    """
    return price_in(user_prices(), model) or (list_price(provider, model) if listed else None)


def list_price(provider: str, model: str) -> ListPrice | None:
    """The seller's own price; None where it is not on the list."""
    from promptpo.llm.base import Usage

    found = ListPrice(provider, model)
    try:
        found.cost(Usage())
    except LookupError:
        return None
    return found


def price_in(table: Prices, model: str) -> Price | None:
    """The price of a model in a user's table.

    A dated or suffixed name ("gpt-5.5-2026-04-23") has the price of the longest name that it extends at
    a date or at "-latest"; "gpt-5.5-mini" is another model than "gpt-5.5", not an extension of it.
    """
    return table.get(model) or table.get(_VERSION.sub("", model))


_VERSION = re.compile(r"[-@:](latest|\d{4}-?\d{2}-?\d{2})$")


def user_prices() -> Prices:
    """The table in the TOML file that ``PROMPTPO_PRICES`` names, ``[models."NAME"]`` with the fields of `Price`.

    Raises:
        UsageError: The file cannot be read as such a table.
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
    """US dollars per million input and output tokens, as a pair or as ``IN,OUT``; None when not given.

    Raises:
        UsageError: It is no such pair.
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
