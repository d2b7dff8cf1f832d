"""``anthropic:MODEL``: Anthropic's messages, with the stable part of the prompt marked for caching."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptpo.llm.base import Usage
from promptpo.llm.sdk import Reply, SDKProvider

if TYPE_CHECKING:
    from promptpo.llm.base import Effort, Finish, Request
    from promptpo.llm.stills import Still

_CACHED = {"cache_control": {"type": "ephemeral"}}
_FINISH: dict[str | None, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


class AnthropicLLM(SDKProvider):
    """Messages through the official client."""

    provider = "anthropic"
    client = "AsyncAnthropic"
    key_variable = "ANTHROPIC_API_KEY"
    address_variable = "ANTHROPIC_BASE_URL"
    official_host = "api.anthropic.com"

    def _address(self, base_url: str | None) -> str | None:
        # The client adds the version to the path itself.
        return base_url.rstrip("/").removesuffix("/v1") if base_url else None

    @property
    def _limit_names(self) -> tuple[str, ...]:
        return ("max_tokens",)

    def _effort(self, effort: Effort) -> dict[str, Any]:
        return {"output_config": {"effort": effort}, "thinking": {"type": "adaptive"}}

    async def _send(self, request: Request, settings: dict[str, Any]) -> Any:
        return await self._client.messages.create(
            model=self.model,
            max_tokens=settings.pop("max_tokens"),
            messages=_messages(request),
            system=[_block(request.system, cached=True)] if request.system else self._sdk.omit,
            stream=settings.pop("stream", False),
            # With each call, because the client otherwise insists on streaming for large limits.
            timeout=self._timeout,
            # What is left is sent as it is: the client has no keyword for the temperature any more, which
            # older models take.
            extra_body=settings or None,
        )

    def _whole(self, content: dict[str, Any]) -> Any:
        return self._sdk.types.Message.construct(**content)

    def _read(self, response: Any) -> Reply:
        return Reply(
            text="".join(block.text for block in response.content if block.type == "text"),
            model=response.model or self.model,
            finish=_FINISH.get(response.stop_reason, "stop"),
            usage=_usage(response.usage),
            cache_write_tokens=response.usage.cache_creation_input_tokens or 0,
        )

    def _add(self, reply: Reply, event: Any) -> Reply:
        if event.type == "message_start":
            return self._read(event.message)
        if event.type == "content_block_start" and event.content_block.type == "text":
            return replace(reply, text=reply.text + event.content_block.text)
        if event.type == "content_block_delta" and event.delta.type == "text_delta":
            return replace(reply, text=reply.text + event.delta.text)
        if event.type == "message_delta":
            written = replace(
                reply.usage, output_tokens=event.usage.output_tokens, reasoning_tokens=_thought(event.usage)
            )
            return replace(reply, finish=_FINISH.get(event.delta.stop_reason, "stop"), usage=written)
        return reply


def _usage(usage: Any) -> Usage:
    """Anthropic counts three kinds of input apart; ours are the sum and the part that was cached."""
    read = usage.cache_read_input_tokens or 0
    return Usage(
        input_tokens=(usage.input_tokens or 0) + (usage.cache_creation_input_tokens or 0) + read,
        cached_input_tokens=read,
        output_tokens=usage.output_tokens or 0,
        reasoning_tokens=_thought(usage),
    )


def _thought(usage: Any) -> int:
    return getattr(getattr(usage, "output_tokens_details", None), "thinking_tokens", None) or 0


def _messages(request: Request) -> list[dict[str, Any]]:
    """The conversation, with a cache mark at the end of its stable part."""
    return [
        {
            "role": message.role,
            "content": [
                _block(message.content, cached=n == request.stable_messages),
                *(block for still in message.stills for block in _shown(still)),
            ],
        }
        for n, message in enumerate(request.messages, start=1)
    ]


def _shown(still: Still) -> list[dict[str, Any]]:
    source = {"type": "base64", "media_type": "image/png", "data": still.base64}
    return [_block(still.caption, cached=False), {"type": "image", "source": source}]


def _block(text: str, *, cached: bool) -> dict[str, Any]:
    return {"type": "text", "text": text, **(_CACHED if cached else {})}
