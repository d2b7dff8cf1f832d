"""Base of the providers with a language model behind them: empty answers are requested again, tokens are paid for."""

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

ROOM_FACTOR = 4
"""How much the token limit grows when reasoning has used all of it and no answer came."""

MAX_ANSWER_CHARACTERS = 1 << 22
"""Characters of an answer; of a longer one the rest is left."""

MOST_TOKENS = 1 << 32
"""In one call; a server that counts more does not count."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reply:
    """One response of a service.

    Attributes:
        text: Its visible text.
        model: The model that the service says answered.
        finish: Why it ended.
        usage: Its tokens.
        logprobs: Likeliest first tokens with their log-probabilities; empty where they were not given.
        reasoning: Text that came as reasoning.
        called: Arguments of calls of tools that nobody offered.
    """

    text: str
    model: str
    finish: Finish
    usage: Usage
    logprobs: Mapping[str, float] = field(default_factory=dict)
    reasoning: str = ""
    called: str = ""


def limit_reply(reply: Reply) -> Reply:
    """An answer within its longest, without numbers of tokens that cannot be."""
    if len(reply.text) > MAX_ANSWER_CHARACTERS:
        reply = replace(reply, text=reply.text[:MAX_ANSWER_CHARACTERS], finish="length")
    counted = all(isinstance(n, int) and 0 <= n <= MOST_TOKENS for n in astuple(reply.usage))
    return reply if counted else replace(reply, usage=Usage())


class Provider(ABC):
    """Answers requests, reply by reply.

    Args:
        name: What ``--model`` would say.
        model: As the service calls it.
        price: What a call costs; None where that is not known.
    """

    empty_retries: ClassVar[int] = 2
    """Further tries after an answer without text, or after a stream that broke before any."""

    capabilities = Capabilities(sees=None)

    def __init__(self, name: str, model: str, price: Pricing | None) -> None:
        self.name, self.model = name, model
        self.capabilities = replace(self.capabilities, price=price, price_known=price is not None)
        self._told: set[str] = set()
        self._room = 1

    @abstractmethod
    async def _ask(self, request: Request, limit: int) -> Reply:
        """One reply, of so many tokens at most; raises as `complete` does."""

    def _price_of(self, model: str) -> Pricing | None:
        """The price of a model that answered in place of the one that was asked."""
        del model
        return None

    async def aclose(self) -> None:  # noqa: B027 - most hold nothing
        """Release what it holds; calling it twice is harmless."""

    async def complete(self, request: Request) -> Completion:
        """Answer one request.

        An answer without text is asked for again, twice at most, as far as the run's limit on calls allows. Where
        reasoning has used up the token limit, with a larger limit, which later calls keep, unless the user has set
        the limit. All calls and their usage are counted; if none has text, the completion is empty.

        Raises:
            ProviderError: It cannot be answered.
        """
        started = time.perf_counter()
        if self.capabilities.sees is False:
            request = request.without_stills()
        replies: list[Reply] = []
        while True:
            limit = request.max_output_tokens * (1 if request.keeps_limit else self._room)
            try:
                reply = await self._ask(request, limit)
            except ProviderError:
                if not replies:
                    raise
                # The empty answer stands, so that what it cost is counted; the larger limit may be at fault.
                self._room = 1
                break
            replies.append(reply)
            if reply.text.strip() or reply.finish == "refusal":
                break
            last_try = len(replies) > self.empty_retries
            if reply.finish == "length":
                last_try |= request.keeps_limit or limit > request.max_output_tokens
                self._room = ROOM_FACTOR
            if last_try or not request.may_ask_again():
                break
            if reply.finish == "length":
                self._warn_once(
                    "used all %s output tokens for reasoning; retrying with a limit of %s.",
                    f"{limit:,}",
                    f"{request.max_output_tokens * self._room:,}",
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
        """Say something of the model that holds for all its calls."""
        if words not in self._told:
            self._told.add(words)
            logger.warning(f"%s {words}", clean_name(self.name), *given)  # noqa: G004 - the sentence is ours

    def _cost(self, replies: list[Reply]) -> float | None:
        priced = [(self.capabilities.price or self._price_of(reply.model), reply.usage) for reply in replies]
        costs = [price.cost(usage) if price else None for price, usage in priced]
        return None if None in costs else sum(filter(None, costs))
