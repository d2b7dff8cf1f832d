"""The protocol between ICPI and whatever completes its prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo.llm.base import Completion
    from promptpo_baselines.icpi.values import CompletionRequest


class Engine(Protocol):
    """Completes batches of prompts.

    Attributes:
        name: The value of ``--engine`` that selects it.
    """

    name: str

    def complete(self, requests: Sequence[CompletionRequest]) -> list[Completion]:
        """Complete all requests of a batch, in order.

        Raises:
            ProviderError: A request cannot be completed; an *invalid* completion is not an error.
            BudgetSpentError: The next request would exceed a limit.
        """
        ...

    def close(self) -> None:
        """Release what it holds."""
        ...
