"""``anthropic:MODEL``: Anthropic's messages, with the stable part of the prompt marked for caching."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from promptpo.llm.failures import Service, read_key
from promptpo.llm.sdk import MAX_RETRIES, TIMEOUT_SECONDS, Reply, SDKProvider
from promptpo.records import Usage

if TYPE_CHECKING:
    from promptpo.llm.base import Finish, Request

KEY_VARIABLE = "ANTHROPIC_API_KEY"
OFFICIAL_HOST = "api.anthropic.com"

_CACHED = {"cache_control": {"type": "ephemeral"}}
_FINISH: dict[str | None, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


class AnthropicLLM(SDKProvider):
    """Messages through the official client.

    Args:
        model: As the service calls it.
        base_url: Address of a compatible server, without ``/v1``; the key is then optional.
        timeout: Seconds until a request is given up.
        max_retries: How often the client retries a request.

    Raises:
        MissingKeyError: ``ANTHROPIC_API_KEY`` is not set, and no `base_url` is given.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        max_retries: int = MAX_RETRIES,
    ) -> None:
        import anthropic  # noqa: PLC0415 - it costs half a second; only its own provider pays

        key = read_key(KEY_VARIABLE, provider="anthropic", placeholder_allowed=base_url is not None)
        self._client = anthropic.AsyncAnthropic(
            api_key=key, base_url=base_url, timeout=timeout, max_retries=max_retries
        )
        self._timeout = timeout
        address = str(self._client.base_url)
        super().__init__(
            anthropic,
            Service("anthropic", model, KEY_VARIABLE, address, timeout, key),
            model,
            official=urlsplit(address).hostname == OFFICIAL_HOST,
        )

    def _settings(self, request: Request, limit: int) -> dict[str, Any]:
        settings: dict[str, Any] = {"max_tokens": limit}
        if request.temperature is not None and "temperature" not in self._refused:
            settings["temperature"] = request.temperature
        return settings

    def _may_refuse(self, settings: dict[str, Any]) -> tuple[str, ...]:
        return tuple(name for name in settings if name != "max_tokens")

    async def _send(self, request: Request, settings: dict[str, Any]) -> Any:
        # The client has no keyword for the temperature any more, though older models and compatible
        # servers take it; the timeout is given with each call because the client otherwise insists on
        # streaming for large limits.
        sampling = {name: value for name, value in settings.items() if name != "max_tokens"}
        return await self._client.messages.create(
            model=self.model,
            max_tokens=settings["max_tokens"],
            messages=cast("Any", _messages(request)),
            timeout=self._timeout,
            system=cast("Any", [_block(request.system, cached=True)] if request.system else self._sdk.omit),
            extra_body=sampling or None,
        )

    def _read(self, response: Any) -> Reply:
        written = response.usage.cache_creation_input_tokens or 0
        read = response.usage.cache_read_input_tokens or 0
        return Reply(
            text="".join(block.text for block in response.content if block.type == "text"),
            model=response.model or self.model,
            finish=_FINISH.get(response.stop_reason, "stop"),
            usage=Usage(
                # Anthropic counts the three kinds apart; ours are the sum and the part that was cached.
                input_tokens=(response.usage.input_tokens or 0) + written + read,
                cached_input_tokens=read,
                output_tokens=response.usage.output_tokens or 0,
            ),
            cache_write_tokens=written,
        )

    async def aclose(self) -> None:
        """Release connections; calling it twice is harmless."""
        await self._client.close()


def _messages(request: Request) -> list[dict[str, Any]]:
    """The conversation, with a cache mark at the end of its stable part."""
    return [
        {"role": message.role, "content": [_block(message.content, cached=n == request.stable_messages)]}
        for n, message in enumerate(request.messages, start=1)
    ]


def _block(text: str, *, cached: bool) -> dict[str, Any]:
    return {"type": "text", "text": text, **(_CACHED if cached else {})}
