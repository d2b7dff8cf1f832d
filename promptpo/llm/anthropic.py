"""``anthropic:MODEL``: Anthropic's Messages API, with the stable part of the prompt marked for caching."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptpo.llm.base import Usage, read_count
from promptpo.llm.compatible import ServerFaultError, finish_of
from promptpo.llm.provider import Reply
from promptpo.llm.sdk import SDKProvider

if TYPE_CHECKING:
    from promptpo.llm.base import Message, Request


class AnthropicLLM(SDKProvider):
    """The Messages API through the official client."""

    provider = "anthropic"
    client = "AsyncAnthropic"
    key_variable = "ANTHROPIC_API_KEY"
    address_variable = "ANTHROPIC_BASE_URL"
    official_host = "api.anthropic.com"
    own_path = "/v1"

    def _completion_settings(self, request: Request) -> dict[str, Any]:
        if request.effort is None:
            return {}
        return {"output_config": {"effort": request.effort}, "thinking": {"type": "adaptive"}}

    async def _send(self, request: Request, settings: dict[str, Any]) -> Any:
        turns = enumerate(request.messages, start=1)
        return await self._client.messages.create(
            model=self.model,
            max_tokens=settings.pop("max_tokens"),
            messages=[
                {"role": turn.role, "content": _content(turn, cached=n == request.stable_messages)}
                for n, turn in turns
            ],
            system=[_block(request.system, cached=True)] if request.system else self._sdk.omit,
            stream=settings.pop("stream", False),
            # Set per call, because the client otherwise insists on streaming for large limits.
            timeout=self.timeout,
            # The client no longer has a keyword for the temperature, which older models accept.
            extra_body=settings or None,
        )

    def _read(self, response: Any) -> Reply:
        if getattr(response, "type", "") == "error":
            raise ServerFaultError(response)
        blocks = response.content
        return Reply(
            text="".join(block.text for block in blocks if block.type == "text"),
            model=response.model or self.model,
            finish=finish_of(response.stop_reason),
            usage=_usage(response.usage),
            reasoning="".join(getattr(block, "thinking", "") for block in blocks if block.type == "thinking"),
        )

    def _add(self, reply: Reply, event: Any) -> Reply:
        if event.type == "message_start":
            return self._read(event.message)
        new: Any = getattr(event, "content_block", None) or getattr(event, "delta", None)
        if event.type == "message_delta":
            written = _usage(event.usage)
            usage = replace(
                reply.usage, output_tokens=written.output_tokens, reasoning_tokens=written.reasoning_tokens
            )
            return replace(reply, finish=finish_of(event.delta.stop_reason), usage=usage)
        kind = getattr(new, "type", "")
        if kind in ("text", "text_delta"):
            return replace(reply, text=reply.text + new.text)
        if kind in ("thinking", "thinking_delta"):
            return replace(reply, reasoning=reply.reasoning + (new.thinking or ""))
        return reply


def _usage(usage: Any) -> Usage:
    """Convert Anthropic's token counts, whose input tokens exclude those read from and written to the cache."""
    read, written = (read_count(usage, f"cache_{name}_input_tokens") for name in ("read", "creation"))
    return Usage(
        input_tokens=read_count(usage, "input_tokens") + written + read,
        cached_input_tokens=read,
        output_tokens=read_count(usage, "output_tokens"),
        reasoning_tokens=read_count(usage, "output_tokens_details.thinking_tokens"),
        cache_write_tokens=written,
    )


def _content(turn: Message, *, cached: bool) -> list[dict[str, Any]]:
    """Return a turn's text, with a cache mark if the stable part ends there, and its images."""
    blocks = [_block(turn.content, cached=cached)]
    for image in turn.images:
        source = {"type": "base64", "media_type": "image/png", "data": image.base64}
        blocks += [_block(image.caption), {"type": "image", "source": source}]
    return blocks


def _block(text: str, *, cached: bool = False) -> dict[str, Any]:
    return {"type": "text", "text": text, **({"cache_control": {"type": "ephemeral"}} if cached else {})}
