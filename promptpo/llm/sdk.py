"""What the providers that use an official SDK share.

The SDK retries what it knows (429 with Retry-After, 5xx, dropped connections, timeouts); nothing here
retries those again. This module adds what it does not know: settings that a model refuses, answers
without text, prices, and errors in one sentence.
"""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from promptpo.llm.base import ALL_PURPOSES, Completion, Finish, Request
from promptpo.llm.failures import Service, explain, not_an_answer, refused_setting
from promptpo.llm.prices import known_prices, price_of, user_prices
from promptpo.records import Usage

if TYPE_CHECKING:
    from types import ModuleType

EMPTY_RETRIES = 2
"""Further tries after an answer without text."""

ROOM_FACTOR = 4
"""How much the token limit grows when reasoning has used all of it and no answer came."""

TIMEOUT_SECONDS = 600.0
MAX_RETRIES = 4


@dataclass(frozen=True, slots=True)
class Reply:
    """One response of a service.

    Attributes:
        text: Its visible text.
        model: The model that the service says answered.
        finish: Why it ended.
        usage: Its tokens.
        cache_write_tokens: How many of the input tokens were written to the prompt cache.
    """

    text: str
    model: str
    finish: Finish
    usage: Usage
    cache_write_tokens: int = 0


class SDKProvider(ABC):
    """An `LLM` behind an official asynchronous client.

    Args:
        sdk: The imported SDK.
        service: How to speak of the service in errors.
        model: As the service calls it.
        official: The client talks to the seller's own address, so that its list prices apply.
    """

    purposes = ALL_PURPOSES
    language_model = True

    def __init__(self, sdk: ModuleType, service: Service, model: str, *, official: bool) -> None:
        self.name = f"{service.provider}:{model}"
        self.model = model
        self._sdk = sdk
        self._service = service
        self._prices = (user_prices(), known_prices()) if official else (user_prices(),)
        self._refused: set[str] = set()
        self._room = 1

    @abstractmethod
    def _settings(self, request: Request, limit: int) -> dict[str, Any]:
        """The settings of a call, without those in `self._refused`.

        Args:
            request: The call.
            limit: Token limit of the answer, reasoning included.
        """

    @abstractmethod
    def _may_refuse(self, settings: dict[str, Any]) -> tuple[str, ...]:
        """Names of the settings among `settings` without which a call can do."""

    @abstractmethod
    async def _send(self, request: Request, settings: dict[str, Any]) -> Any:
        """Make one call through the SDK, which retries it as it sees fit."""

    @abstractmethod
    def _read(self, response: Any) -> Reply:
        """What a response says.

        Raises:
            AttributeError: It lacks something that a response in the service's format has.
            TypeError: The same.
            LookupError: The same.
        """

    @abstractmethod
    async def aclose(self) -> None:
        """Release connections; calling it twice is harmless."""

    async def complete(self, request: Request) -> Completion:
        """Answer one request.

        An answer without text is asked for again, twice at most. Where reasoning has used up the token
        limit, with a larger limit, which later calls keep. The usage of all tries is counted; if none has
        text, the completion is empty.

        Raises:
            ProviderError: It cannot be answered.
        """
        started = time.perf_counter()
        replies: list[Reply] = []
        for _ in range(1 + EMPTY_RETRIES):
            limit = request.max_output_tokens * self._room
            reply = await self._ask(request, limit)
            replies.append(reply)
            if reply.text.strip() or reply.finish == "refusal":
                break
            if reply.finish == "length":
                self._room = ROOM_FACTOR
        last = replies[-1]
        return Completion(
            text=last.text,
            model=last.model,
            finish=last.finish,
            usage=reduce(Usage.__add__, (reply.usage for reply in replies)),
            cost_usd=self._cost(replies),
            seconds=time.perf_counter() - started,
        )

    async def _ask(self, request: Request, limit: int) -> Reply:
        """One call; again without a setting that the model turns out to refuse."""
        while True:
            settings = self._settings(request, limit)
            try:
                response = await self._send(request, settings)
            except self._sdk.APIError as error:
                refused = refused_setting(error, self._may_refuse(settings))
                failure = explain(error, self._sdk, self._service)
            except (json.JSONDecodeError, UnicodeDecodeError) as error:
                refused = None
                failure = not_an_answer(str(error), self._service)
            else:
                return self._checked(response)
            # Outside of the except block, so that the SDK's exception, which holds the request with its
            # headers and so the key, is not chained to ours.
            if refused is None:
                raise failure
            self._refused.add(refused)

    def _checked(self, response: Any) -> Reply:
        """What a response says; the SDKs hand over whatever came, unvalidated."""
        try:
            return self._read(response)
        except (AttributeError, TypeError, LookupError):
            raise not_an_answer(str(response), self._service) from None

    def _cost(self, replies: list[Reply]) -> float | None:
        total = 0.0
        for reply in replies:
            price = price_of(self.model, *self._prices) or price_of(reply.model, *self._prices)
            cost = price.cost(reply.usage, reply.cache_write_tokens) if price else None
            if cost is None:
                return None
            total += cost
        return total
