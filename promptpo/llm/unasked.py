"""A model of which only the name and the price are wanted: it needs no key, and asks only for the list of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from promptpo.llm.base import ALL_PURPOSES
from promptpo.llm.stills import known_to_see

if TYPE_CHECKING:
    from collections.abc import Callable

    from promptpo.llm.base import Request
    from promptpo.llm.prices import Pricing


class UnaskedLLM:
    """Says what a service's model would cost; it answers nothing.

    Args:
        name: As ``--model`` says it.
        price: What a call costs; None where that is not known.
        make: Makes the provider that would be asked.
    """

    purposes = ALL_PURPOSES
    language_model = True
    takes_effort = True

    def __init__(self, name: str, price: Pricing | None, make: Callable[[], Any]) -> None:
        self.name, self.price, self._make = name, price, make
        self.price_known = price is not None
        self.sees = known_to_see(*name.partition(":")[::2])

    async def check(self) -> str | None:
        """As the provider that would be asked does it; raises what it does, also where there is no key."""
        real = self._make()
        try:
            tried: str | None = await real.check()
        finally:
            await real.aclose()
        return tried

    async def complete(self, request: Request) -> NoReturn:
        """Nothing is asked where only the cost is wanted."""
        raise RuntimeError(f"{self.name} was made to tell its price; it cannot answer {request.key}")

    async def aclose(self) -> None:
        """Nothing to release."""
