"""Base class of providers with a language model: retry empty answers, and count tokens and costs."""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, replace
from functools import reduce
from typing import ClassVar

from promptpo.errors import ProviderError
from promptpo.llm.base import Capabilities, Completion, Finish, Pricing, Request, Usage
from promptpo_sandbox.text import clean_name

LIMIT_FACTOR = 4
"""Factor by which the token limit is raised if reasoning used all of it."""

MAX_ANSWER_CHARACTERS = 1 << 22
"""Characters of an answer; longer ones are truncated."""

MAX_TOKENS = 1 << 32
"""Largest credible token count of one call; a server that reports more is not believed."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reply:
    """One response of a service.

    Attributes:
        text: Its visible text.
        model: The model that the service says answered.
        finish: The reason why it ended.
        usage: Its tokens.
        logprobs: The most likely first tokens with their log-probabilities; empty if unavailable.
        reasoning: Text sent as reasoning.
        called: Arguments of tool calls, although no tools were offered.
    """

    text: str
    model: str
    finish: Finish
    usage: Usage
    logprobs: Mapping[str, float] = field(default_factory=dict)
    reasoning: str = ""
    called: str = ""


def limit_reply(reply: Reply) -> Reply:
    """Truncate a reply to `MAX_ANSWER_CHARACTERS`, and drop impossible token counts."""
    if len(reply.text) > MAX_ANSWER_CHARACTERS:
        reply = replace(reply, text=reply.text[:MAX_ANSWER_CHARACTERS], finish="length")
    counted = all(isinstance(n, int) and 0 <= n <= MAX_TOKENS for n in astuple(reply.usage))
    return reply if counted else replace(reply, usage=Usage())


class Provider(ABC):
    """A provider that gets one reply per call of a service.

    Args:
        name: Its name as for ``--model``.
        model: The service's name of the model.
        price: Price of its tokens; None if unknown.
    """

    empty_retries: ClassVar[int] = 2
    """Retries after an answer without text."""

    capabilities = Capabilities(sees=None)

    def __init__(self, name: str, model: str, price: Pricing | None) -> None:
        self.name, self.model = name, model
        self.capabilities = replace(self.capabilities, price=price, price_known=price is not None)
        self._warned: set[str] = set()
        self._limit_factor = 1

    @abstractmethod
    async def _ask(self, request: Request, limit: int) -> Reply:
        """Get one reply of at most `limit` tokens; raises as `complete` does."""

    def _price_of(self, model: str) -> Pricing | None:
        """Return the price of a model that answered in place of the requested one; None if unknown."""
        del model
        return None

    async def aclose(self) -> None:  # noqa: B027 - most hold nothing
        """Release resources; calling it twice is harmless."""

    async def complete(self, request: Request) -> Completion:
        """Answer one request.

        An answer without text is requested again, at most twice and within the run's limit on calls. If reasoning used
        up the token limit, the limit is raised, also for later calls, unless the user set it. All calls and their
        usage are counted; if none has text, the completion is empty.

        Raises:
            ProviderError: The request failed.
        """
        started = time.perf_counter()
        if self.capabilities.sees is False:
            request = request.without_images()
        replies: list[Reply] = []
        while True:
            limit = request.max_output_tokens * (1 if request.keeps_limit else self._limit_factor)
            try:
                reply = await self._ask(request, limit)
            except ProviderError:
                if not replies:
                    raise
                # Keep the empty answer, so that its cost is counted; the larger limit may be at fault.
                self._limit_factor = 1
                break
            replies.append(reply)
            if reply.text.strip() or reply.finish == "refusal":
                break
            last_try = len(replies) > self.empty_retries
            if reply.finish == "length":
                last_try |= request.keeps_limit or limit > request.max_output_tokens
                self._limit_factor = LIMIT_FACTOR
            if last_try or not request.may_ask_again():
                break
            if reply.finish == "length":
                self._warn_once(
                    "used all %s output tokens for reasoning; retrying with a limit of %s.",
                    f"{limit:,}",
                    f"{request.max_output_tokens * self._limit_factor:,}",
                )
        last = replies[-1]
        if last.finish == "length" and not last.text.strip():
            self._warn_once(
                "reached the token limit while it was still reasoning (%s tokens, no text); "
                "raise --max-output-tokens or lower --effort.",
                f"{last.usage.reasoning_tokens or last.usage.output_tokens:,}",
            )
        return Completion(
            text=last.text,
            model=last.model,
            finish=last.finish,
            usage=reduce(Usage.__add__, (reply.usage for reply in replies)),
            cost_usd=self._cost(replies),
            seconds=time.perf_counter() - started,
            logprobs=last.logprobs,
            calls=len(replies),
        )

    def _warn_once(self, words: str, *given: object) -> None:
        """Log a warning about the model unless it was logged before."""
        if words not in self._warned:
            self._warned.add(words)
            logger.warning(f"%s {words}", clean_name(self.name), *given)  # noqa: G004 - the text is a constant

    def _cost(self, replies: list[Reply]) -> float | None:
        priced = [(self.capabilities.price or self._price_of(reply.model), reply.usage) for reply in replies]
        costs = [price.cost(usage) if price else None for price, usage in priced]
        return None if None in costs else sum(filter(None, costs))
