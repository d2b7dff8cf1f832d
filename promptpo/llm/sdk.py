"""Base class of providers that use an official SDK.

The SDK makes one request per call; `Retries` decides whether another follows. This module adds what the SDKs lack:
fallbacks for settings that a model refuses, answers without text, prices, and errors in one sentence.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import re
from abc import abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from promptpo.errors import FatalProviderError, ProviderError, suggest
from promptpo.llm.base import Capabilities, Pricing, Request, Usage, accepts_images, estimate_usage
from promptpo.llm.compatible import (
    ServerFaultError,
    find_token_limit,
    http_client,
    is_local,
    own_words,
    refuses_system,
    system_in_first_turn,
    writes_text,
)
from promptpo.llm.credentials import restore_credentials
from promptpo.llm.failures import (
    explain,
    fault_in,
    find_refused_setting,
    public_address,
    read_key,
    refuses_images,
)
from promptpo.llm.prices import price_of
from promptpo.llm.provider import MAX_ANSWER_CHARACTERS, MAX_TOKENS, Provider, Reply, limit_reply
from promptpo.llm.retrying import Retries
from promptpo_sandbox.text import clean_name

if TYPE_CHECKING:
    from types import ModuleType


CHECK_SECONDS = 20.0
"""Time limit for listing a service's models."""

MAX_NAMES = 10
NOT_FOUND = 404

LINKED_SETTINGS: Mapping[str, frozenset[str]] = {
    "stream": frozenset({"stream", "stream_options"}),
    "logprobs": frozenset({"logprobs", "top_logprobs"}),
    "top_logprobs": frozenset({"logprobs", "top_logprobs"}),
}
"""Settings that are dropped together with a refused one."""

_CODE = re.compile(r"```|\bclass \w")

logger = logging.getLogger(__name__)


class SDKProvider(Provider):
    """A provider with an official asynchronous client.

    Subclasses name the service and implement its wire format.

    Args:
        model: The service's name of the model.
        base_url: Address of a compatible server, for which the key is optional. By default the SDK's own variable
            decides, then the service.
        price: The user's price; None to look it up.
        asked: Whether it will receive requests; if not, no key is needed.

    Raises:
        MissingKeyError: There is no key, nor the address of a server that may need none.
    """

    provider: ClassVar[str]
    """The provider as in ``--model provider:MODEL``; also the name of the SDK's module."""
    client: ClassVar[str]
    """The SDK's asynchronous client class."""
    key_variable: ClassVar[str]
    address_variable: ClassVar[str]
    official_host: ClassVar[str]
    streamed: ClassVar[Mapping[str, Any]] = {"stream": True}
    """The settings for streaming."""
    own_path: ClassVar[str] = ""
    """The path that the client adds to an address."""
    timeout: ClassVar[float] = 600.0
    """Seconds until a request times out."""
    max_retries: ClassVar[int] = 4
    """Retries of a call."""
    busy_retries: ClassVar[int] = 12
    """Retries while a service is busy or loads its model, over some seven minutes."""
    capabilities = Capabilities(sees=None, takes_effort=True)

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        price: Pricing | None = None,
        asked: bool = True,
    ) -> None:
        address = restore_credentials(
            base_url or os.environ.get(self.address_variable, ""), self.address_variable
        )
        self._address = address.rstrip("/").removesuffix(self.own_path) or None
        self._official = urlsplit(self._address or f"//{self.official_host}").hostname == self.official_host
        super().__init__(f"{self.provider}:{model}", model, price or self._price_of(model))
        sees, here = accepts_images(self.provider, model), is_local(self._address)
        self.capabilities = replace(self.capabilities, sees=sees, stays_here=here)
        self._refused: set[str] = set()
        self._max_tokens, self._takes_system = MAX_TOKENS, True
        self._retries = Retries(self.max_retries, self.busy_retries)
        if asked:
            self._key  # noqa: B018 - raises early if the key is missing, as the next line does for a wrong proxy
            http_client(importlib.import_module("httpx2").AsyncClient, self._address)

    @property
    def _key(self) -> str:  # not stored, so that no representation of this object shows it
        return read_key(self.key_variable, provider=self.provider, optional=self._address is not None)

    @property
    def address(self) -> str:
        """The server's address for display."""
        return public_address(self._address or f"https://{self.official_host}/")

    def _explain(self, error: Exception) -> ProviderError:
        return explain(error, self, self._key)

    @property
    def _sdk(self) -> ModuleType:
        return importlib.import_module(self.provider)

    @cached_property
    def _client(self) -> Any:
        return getattr(self._sdk, self.client)(
            api_key=self._key,
            base_url=self._address,
            timeout=self.timeout,
            max_retries=0,
            http_client=http_client(self._sdk.DefaultAsyncHttpxClient, self._address),
        )

    def _price_of(self, model: str) -> Pricing | None:
        # List prices are the service's own; those of servers at other addresses are unknown.
        return price_of(self.provider, model, listed=self._official)

    @property
    def _limit_names(self) -> tuple[str, ...]:
        """Names of the token limit in the wire format, in the order to try them."""
        return ("max_tokens",)

    @abstractmethod
    def _completion_settings(self, request: Request) -> dict[str, Any]:
        """Return the settings for reasoning effort and log-probabilities in the wire format, if requested."""

    def _belongs_elsewhere(self, error: Any) -> bool:
        """Return whether an error refers to another endpoint for this model, and use that from now on."""
        del error
        return False

    @abstractmethod
    async def _send(self, request: Request, settings: dict[str, Any]) -> Any:
        """Make one request through the SDK; return its response, or its stream if ``stream`` is set."""

    @abstractmethod
    def _read(self, response: Any) -> Reply:
        """Read a whole response.

        Raises:
            AttributeError: It does not have the service's format; so for the errors below.
            TypeError: The same.
            LookupError: The same.
        """

    @abstractmethod
    def _add(self, reply: Reply, event: Any) -> Reply:
        """Add one more event of a stream to the reply; raises as `_read` does."""

    async def aclose(self) -> None:
        """Release connections; calling it twice is harmless."""
        if "_client" in vars(self):
            await self._client.close()

    async def check(self) -> str | None:
        """Check key, address and model at no cost, by the service's list of models.

        Returns:
            A warning if the list lacks the model but the server ignores the name; empty if it has the model; None if
            there is no list, so that only a call can tell.

        Raises:
            ProviderError: The key is refused, the server does not answer, or it has no such model.
        """
        client, failure = self._client.with_options(timeout=CHECK_SECONDS, max_retries=1), None
        listed: dict[str, Any] = {}
        try:
            if self._official:
                await client.models.retrieve(self.model)
                return ""
            async for model in client.models.list():
                listed[str(model.id)] = model
        except self._sdk.APIError as error:
            # Other errors of the user's own server mean nothing: many have no such list.
            final = {None, 401, 403, *([NOT_FOUND] if self._official else [])}
            if getattr(error, "status_code", None) in final:
                failure = self._explain(error)
        except (AttributeError, TypeError, ValueError):
            return None  # a list in another form
        if (
            failure is not None
        ):  # raised here because the SDK's exception, which holds the key, would be chained
            raise failure
        if not listed:
            return None
        if any(self.model in {name, name.removesuffix(":latest")} for name in listed):
            return ""
        names = sorted(name for name, model in listed.items() if writes_text(model))
        known = clean_name(", ".join(names[:MAX_NAMES])) or "none that writes text"
        write = f"write --model {self.name.removesuffix(self.model)}{names[0]}." if names else ""
        hint = clean_name(suggest(self.model, names, write))
        warning = f"{clean_name(self.name)}: {self.address} lists no such model; it has {known}; {hint}"
        if {getattr(model, "owned_by", None) for model in listed.values()} == {"llamacpp"}:
            return warning  # it answers with its one model, whatever the name
        raise FatalProviderError(f"{warning} To use it anyway, add --no-check.")

    def _settings(self, request: Request, limit: int) -> tuple[dict[str, Any], list[str]]:
        """Return the settings of a call, without refused ones, and the names of those that may yet be refused.

        Args:
            request: The call.
            limit: Token limit of the answer, including reasoning.
        """
        *others, last = self._limit_names
        name = next((other for other in others if other not in self._refused), last)
        settings = {**self.streamed, "temperature": request.temperature, **self._completion_settings(request)}
        kept = {
            key: value for key, value in settings.items() if value is not None and key not in self._refused
        }
        return {name: limit, **kept}, [*kept, *({name} - {last})]

    async def _ask(self, request: Request, limit: int) -> Reply:
        """Get one reply; retry without settings that the model refuses, and after temporary failures."""
        failure, tries, limit = None, 0, min(limit, self._max_tokens)
        while True:
            if request.system and not self._takes_system:
                request = system_in_first_turn(request)
            settings, refusable = self._settings(request, limit)
            try:
                async with AsyncExitStack() as turn:
                    if failure is not None:
                        await self._retries.wait(failure, turn)
                    response = await self._send(request, dict(settings))
                    return await self._receive(request, response, turn)
            except ServerFaultError as fault:
                error: Any = fault
            except self._sdk.APIError as raised:
                error = fault_in(raised)
            except (json.JSONDecodeError, UnicodeDecodeError) as raised:
                error = raised
            # Outside the except block, so that the SDK's exception, whose request has the key in its headers,
            # is not chained to ours.
            changed, limit = self._fall_back(error, request, settings, refusable, limit)
            if changed is not None:
                request, failure = changed, None
                continue
            explained = self._explain(error)
            if not self._retries.allow(error, tries, str(explained)):
                raise explained
            failure, tries = error, tries + 1

    def _fall_back(
        self, error: Any, request: Request, settings: dict[str, Any], refusable: list[str], limit: int
    ) -> tuple[Request | None, int]:
        """Return the request and token limit to try next; no request if the error is final."""
        if not isinstance(error, self._sdk.APIError | ServerFaultError):
            return None, limit
        if hasattr(error, "request") and self._belongs_elsewhere(error):
            return request, limit
        if request.system and refuses_system(error):
            self._takes_system = False
            return request, limit
        refused = find_refused_setting(error, refusable)
        if refused is not None:
            if refused not in self._limit_names:
                self._warn_once(f"does not accept {refused}=%s; continuing without it.", settings[refused])
            self._refused |= LINKED_SETTINGS.get(refused, {refused})
            return request, limit
        if lower := find_token_limit(error, limit):
            if lower.lasting:
                self._max_tokens = lower.tokens
                self._warn_once(
                    "writes at most %s tokens in one answer; continuing with that limit.", f"{lower.tokens:,}"
                )
            return request, lower.tokens
        if request.images and refuses_images(error):
            self.capabilities = replace(self.capabilities, sees=False)
            self._warn_once("does not accept images; continuing without them.")
            return request.without_images(), limit
        return None, limit

    async def _receive(self, request: Request, response: Any, turn: AsyncExitStack) -> Reply:
        """Receive a response, whole or as a stream; the SDKs do not validate it.

        If the connection breaks, the text received so far is kept as a truncated answer.
        """
        reply = Reply("", self.model, "stop", Usage())
        try:
            async for reply in self._stream(response):
                request.on_chunk(len(reply.text))
                if reply.text or reply.reasoning:
                    self._retries.reset()
                    await turn.aclose()
        except ServerFaultError as fault:
            if not reply.text.strip():
                raise
            reply = self._interruption(reply, fault)
        except (AttributeError, TypeError, LookupError, RecursionError) as error:
            raise self._explain(error) from None
        except Exception as error:
            # Anthropic's client passes its HTTP client's errors through here.
            raw = type(error).__module__.startswith("httpx")
            if not (raw or isinstance(error, self._sdk.APIError)):
                raise
            if not reply.text.strip():
                raise (
                    self._sdk.APIConnectionError(request=response.response.request) if raw else error
                ) from None
            reply = self._interruption(reply, error)
        reply = limit_reply(reply)
        written = reply.text + reply.reasoning + reply.called
        reply = self._with_text(reply)
        # some compatible servers do not count tokens
        return reply if reply.usage.total else replace(reply, usage=estimate_usage(request, written))

    async def _stream(self, response: Any) -> AsyncIterator[Reply]:
        """Yield the growing reply while a response arrives."""
        if not hasattr(response, "response"):
            yield self._read(response)
            return
        if "event-stream" not in response.response.headers.get("content-type", ""):
            content = await response.response.aread()  # the server does not stream
            yield self._read(json.loads(content, object_hook=lambda found: SimpleNamespace(**found)))
            return
        reply = Reply("", self.model, "stop", Usage())
        async with response:
            async for event in response:
                reply = self._add(reply, event)
                yield reply
                if max(map(len, (reply.text, reply.reasoning, reply.called))) > MAX_ANSWER_CHARACTERS:
                    return

    def _interruption(self, reply: Reply, error: Any) -> Reply:
        cause = f"the server reported an error ({own_words(error)})" if getattr(error, "body", None) else ""
        logger.warning(
            "%s: %s after %s characters, which are kept as a truncated answer.",
            clean_name(self.name),
            clean_name(cause or "the connection broke"),
            f"{len(reply.text):,}",
        )
        return replace(reply, finish="length", usage=Usage())

    def _with_text(self, reply: Reply) -> Reply:
        """Use tool calls or reasoning as the text of a complete reply without text, if they contain code."""
        if reply.text.strip() or reply.finish != "stop":
            return reply
        for other, where in ((reply.called, "tool calls"), (reply.reasoning, "reasoning")):
            if _CODE.search(other):
                self._warn_once(f"sends its answers as {where}; they are read as answers.")
                return replace(reply, text=other)
        if reply.reasoning.strip():
            self._warn_once("sent reasoning and no answer.")
        return reply
