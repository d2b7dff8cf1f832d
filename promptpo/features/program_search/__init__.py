"""Program search without a language model, behind the same protocol."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from promptpo.errors import ProviderError
from promptpo.llm.base import Capabilities, Completion

if TYPE_CHECKING:
    from promptpo.llm.base import Request


class SearchLLM:
    """Writes policies from a library of controller structures, chosen from the spaces alone.

    It reads no prompt and knows only the environment's spaces; the numbers come from
    tuning. It is the default without an API key, and the control that shows what a language model adds.
    """

    name = "search"
    capabilities = Capabilities(frozenset({"policy"}), language_model=False)

    async def complete(self, request: Request) -> Completion:
        """Write the program for one sample.

        Raises:
            ProviderError: The request is not for a policy.
            UnsupportedSpaceError: No structure suits the spaces.
        """
        from promptpo.features.program_search.library import propose

        if request.purpose != "policy" or request.situation is None:
            raise ProviderError(
                f"program search writes policies only; it cannot answer a {request.purpose} request."
            )
        started = time.monotonic()
        source = propose(request.situation)
        return Completion(
            text=f"```python\n{source}```\n",
            model=self.name,
            cost_usd=0.0,
            seconds=time.monotonic() - started,
        )

    async def aclose(self) -> None:
        """Do nothing: there is nothing to release."""
