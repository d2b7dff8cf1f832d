"""The protocol between ICPI and whatever completes its prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo_baselines.icpi.values import CompletionRequest, Result


@runtime_checkable
class Engine(Protocol):
    """Completes batches of prompts.

    Attributes:
        name: As ``--engine`` would say it.
        paid: Its answers cost time or money, so they are kept on disk and count against budgets.
    """

    name: str
    paid: bool

    def complete(self, requests: Sequence[CompletionRequest]) -> list[Result]:
        """Complete all requests of a batch, in order.

        Raises:
            ProviderError: A request cannot be completed; an *invalid* completion is no error.
            BudgetSpentError: The next request would pass a limit.
        """
        ...

    def close(self) -> None:
        """Release what it holds; calling it twice is harmless."""
        ...


class LocalEngine:
    """Base of engines that compute in this process, for nothing."""

    paid = False

    def close(self) -> None:
        """Nothing to release."""
