"""Base of the providers that use an official SDK.

The SDK makes one request a call; `Retries` decides whether another follows. This module adds what the SDKs do not
know: settings that a model refuses, answers without text, prices, and errors in one sentence.
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
from promptpo.llm.provider import MAX_ANSWER_CHARACTERS, MOST_TOKENS, Provider, Reply, limit_reply
from promptpo.llm.retrying import Retries
from promptpo_sandbox.text import clean_name

if TYPE_CHECKING:
    from types import ModuleType


CHECK_SECONDS = 20.0
"""How long a service may take to list its models."""

MOST_NAMES = 10
UNKNOWN = 404

LINKED_SETTINGS: Mapping[str, frozenset[str]] = {
    "stream": frozenset({"stream", "stream_options"}),
    "logprobs": frozenset({"logprobs", "top_logprobs"}),
    "top_logprobs": frozenset({"logprobs", "top_logprobs"}),
}
"""What goes with a setting that a model has refused."""

_CODE = re.compile(r"```|\bclass \w")

logger = logging.getLogger(__name__)


class SDKProvider(Provider):
    """An `LLM` behind an official asynchronous client.

    Subclasses name the service and speak its wire format.

    Args:
        model: As the service calls it.
        base_url: Address of a compatible server; without one the SDK's own variable, then the service. The
            key is optional where there is one.
        price: What the user says that a call costs; None looks it up.
        asked: Whether it will be asked at all; else no key is needed until it is.

    Raises:
        MissingKeyError: There is no key, and no address of a server that may need none.
    """

    provider: ClassVar[str]
    """As in ``--model provider:MODEL``; also the name of the SDK's module."""
    client: ClassVar[str]
    """The SDK's asynchronous client class."""
    key_variable: ClassVar[str]
    address_variable: ClassVar[str]
    official_host: ClassVar[str]
    streamed: ClassVar[Mapping[str, Any]] = {"stream": True}
    """The settings by which an answer is sent as it is written."""
    own_path: ClassVar[str] = ""
    """What the client adds to an address itself."""
    timeout: ClassVar[float] = 600.0
    """Seconds until the client gives a request up."""
    max_retries: ClassVar[int] = 4
    """How often a call is sent again."""
    busy_retries: ClassVar[int] = 12
    """The same where a service is busy, or loads its model: some seven minutes."""
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
        self._most_tokens, self._takes_system = MOST_TOKENS, True
        self._retries = Retries(self.max_retries, self.busy_retries)
        if asked:
            self._key  # noqa: B018 - a missing key is told before any work is done, and so is a wrong proxy
            http_client(importlib.import_module("httpx2").AsyncClient, self._address)

    @property
    def _key(self) -> str:  # no attribute, so that nothing that shows this shows it
        return read_key(self.key_variable, provider=self.provider, optional=self._address is not None)

    @property
    def address(self) -> str:
        """Where requests go, as it may be shown."""
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
        # The list prices are the service's own; what another seller at another address asks is not known.
        return price_of(self.provider, model, listed=self._official)

    @property
    def _limit_names(self) -> tuple[str, ...]:
        """Names of the token limit in the wire format, in the order in which they are tried."""
        return ("max_tokens",)

    @abstractmethod
    def _completion_settings(self, request: Request) -> dict[str, Any]:
        """How the wire format says how hard to think and which likeliest tokens to give, where that is asked for."""

    def _belongs_elsewhere(self, error: Any) -> bool:
        """Whether the service says that this model is asked in another way, which is then used from now on."""
        del error
        return False

    @abstractmethod
    async def _send(self, request: Request, settings: dict[str, Any]) -> Any:
        """Make one request through the SDK; its stream, where ``stream`` is set."""

    @abstractmethod
    def _read(self, response: Any) -> Reply:
        """Read a whole response.

        Raises:
            AttributeError: It lacks something that a response in the service's format has.
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
        """Try key, address and model by what costs nothing, the service's list of models.

        Returns:
            A warning where the server's list lacks the model and the server does not mind; empty where it has it; None
            where there is no list, so that only a call can tell.

        Raises:
            ProviderError: The key is refused, nobody answers, or the service knows no such model.
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
            # What else a server of one's own answers says nothing: many have no such list.
            final = {None, 401, 403, *([UNKNOWN] if self._official else [])}
            if getattr(error, "status_code", None) in final:
                failure = self._explain(error)
        except (AttributeError, TypeError, ValueError):
            return None  # a list in another form
        if failure is not None:  # outside of the except block: the SDK's exception holds the key
            raise failure
        if not listed:
            return None
        if any(self.model in {name, name.removesuffix(":latest")} for name in listed):
            return ""
        names = sorted(name for name, model in listed.items() if writes_text(model))
        known = clean_name(", ".join(names[:MOST_NAMES])) or "none that writes text"
        write = f"write --model {self.name.removesuffix(self.model)}{names[0]}." if names else ""
        hint = clean_name(suggest(self.model, names, write))
        said = f"{clean_name(self.name)}: {self.address} lists no such model; it has {known}; {hint}"
        if {getattr(model, "owned_by", None) for model in listed.values()} == {"llamacpp"}:
            return said  # it answers with its one model, whatever is asked for
        raise FatalProviderError(f"{said} To use it anyway, add --no-check.")

    def _settings(self, request: Request, limit: int) -> tuple[dict[str, Any], list[str]]:
        """The settings of a call, without those that the model has refused, and which it may still refuse.

        Args:
            request: The call.
            limit: Token limit of the answer, reasoning included.
        """
        *others, last = self._limit_names
        name = next((other for other in others if other not in self._refused), last)
        settings = {**self.streamed, "temperature": request.temperature, **self._completion_settings(request)}
        kept = {
            key: value for key, value in settings.items() if value is not None and key not in self._refused
        }
        return {name: limit, **kept}, [*kept, *({name} - {last})]

    async def _ask(self, request: Request, limit: int) -> Reply:
        """One call; again without what the model turns out to refuse, or where a failure may have passed."""
        failure, tries, limit = None, 0, min(limit, self._most_tokens)
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
            # Outside of the except block, so that the SDK's exception, which holds the request with its
            # headers and so the key, is not chained to ours.
            changed, limit = self._without_what_is_refused(error, request, settings, refusable, limit)
            if changed is not None:
                request, failure = changed, None
                continue
            explained = self._explain(error)
            if not self._retries.allow(error, tries, str(explained)):
                raise explained
            failure, tries = error, tries + 1

    def _without_what_is_refused(
        self, error: Any, request: Request, settings: dict[str, Any], refusable: list[str], limit: int
    ) -> tuple[Request | None, int]:
        """The request and the limit of tokens to try next; no request where the error is final."""
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
                self._most_tokens = lower.tokens
                self._warn_once(
                    "writes at most %s tokens in one answer; continuing with that limit.", f"{lower.tokens:,}"
                )
            return request, lower.tokens
        if request.stills and refuses_images(error):
            self.capabilities = replace(self.capabilities, sees=False)
            self._warn_once("does not accept images; continuing without them.")
            return request.without_stills(), limit
        return None, limit

    async def _receive(self, request: Request, response: Any, turn: AsyncExitStack) -> Reply:
        """Receive a response, whole or as a stream; the SDKs pass on whatever arrived, unvalidated.

        Where the connection breaks, what had arrived is kept as an answer that was cut off.
        """
        reply = Reply("", self.model, "stop", Usage())
        try:
            async for reply in self._arriving(response):
                request.heard(len(reply.text))
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
            # Anthropic's client lets the errors of its HTTP client through here.
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
        # some compatible servers do not count
        return reply if reply.usage.total else replace(reply, usage=estimate_usage(request, written))

    async def _arriving(self, response: Any) -> AsyncIterator[Reply]:
        """Yield what has arrived of a response, again and again until it is whole."""
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
        said = f"the server reported an error ({own_words(error)})" if getattr(error, "body", None) else ""
        logger.warning(
            "%s: %s after %s characters, which are kept as a truncated answer.",
            clean_name(self.name),
            clean_name(said or "the connection broke"),
            f"{len(reply.text):,}",
        )
        return replace(reply, finish="length", usage=Usage())

    def _with_text(self, reply: Reply) -> Reply:
        """A reply that ended by itself and has its code in another place, with that as its text."""
        if reply.text.strip() or reply.finish != "stop":
            return reply
        for other, where in ((reply.called, "tool calls"), (reply.reasoning, "reasoning")):
            if _CODE.search(other):
                self._warn_once(f"sends its answers as {where}; they are read as answers.")
                return replace(reply, text=other)
        if reply.reasoning.strip():
            self._warn_once("sent reasoning and no answer.")
        return reply
