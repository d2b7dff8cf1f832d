"""``openai:MODEL``: OpenAI's chat completions, and servers with the same format.

Models available only through OpenAI's Responses API are called there after the service's first refusal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from promptpo.llm.base import Usage, read_count
from promptpo.llm.compatible import ServerFaultError, finish_of, message_of, pieces_of, plain
from promptpo.llm.provider import Reply
from promptpo.llm.sdk import SDKProvider

if TYPE_CHECKING:
    from promptpo.llm.base import Finish, Message, Request

_RESPONSES_ONLY = re.compile(r"(?:supported|use|available)\b.{0,40}\bv1/responses", re.IGNORECASE)


class OpenAILLM(SDKProvider):
    """Chat completions through the official client.

    The service caches the prefix of prompts by itself; tokens read from the cache are recorded. The address of a
    compatible server (Ollama, vLLM, llama.cpp, LM Studio, OpenRouter) usually ends in ``/v1``.
    """

    provider = "openai"
    client = "AsyncOpenAI"
    key_variable = "OPENAI_API_KEY"
    address_variable = "OPENAI_BASE_URL"
    official_host = "api.openai.com"

    # The last event has the token counts, on request.
    streamed: ClassVar[Mapping[str, Any]] = {"stream": True, "stream_options": {"include_usage": True}}

    _responses = False

    @property
    def _limit_names(self) -> tuple[str, ...]:
        if self._responses:
            return ("max_output_tokens",)
        # OpenAI's reasoning models accept only the new name; all compatible servers accept the old one.
        names = ("max_completion_tokens", "max_tokens")
        return names if self._official else names[::-1]

    def _completion_settings(self, request: Request) -> dict[str, Any]:
        if self._responses:
            return {"reasoning": {"effort": request.effort} if request.effort else None}
        count = request.top_logprobs
        likeliest = {"logprobs": True, "top_logprobs": count} if count else {}
        return {"reasoning_effort": request.effort, **likeliest}

    def _belongs_elsewhere(self, error: Any) -> bool:
        # Look at this call's path, since others may be in flight when the first one finds out.
        asked_there = error.request.url.path.endswith("/responses")
        if asked_there or not _RESPONSES_ONLY.search(f"{error} {getattr(error, 'body', '')}"):
            return False
        self._responses = True
        return True

    async def _send(self, request: Request, settings: dict[str, Any]) -> Any:
        turns: list[Any] = [{"role": turn.role, "content": self._content(turn)} for turn in request.messages]
        if self._responses:
            settings.pop("stream_options", None)
            system = request.system or self._sdk.omit
            return await self._client.responses.create(
                model=self.model, instructions=system, input=turns, store=False, **settings
            )
        system = [{"role": "system", "content": request.system}] if request.system else []
        return await self._client.chat.completions.create(
            model=self.model, messages=[*system, *turns], **settings
        )

    def _content(self, turn: Message) -> Any:
        """Return a turn's content; text alone stays a string, which every compatible server accepts."""
        if not turn.images:
            return turn.content
        text = "input_text" if self._responses else "text"
        parts: list[dict[str, Any]] = [{"type": text, "text": turn.content}]
        for image in turn.images:
            url: Any = f"data:image/png;base64,{image.base64}"
            picture = (
                {"type": "input_image", "image_url": url, "detail": "auto"}
                if self._responses
                else {"type": "image_url", "image_url": {"url": url}}
            )
            parts += [{"type": text, "text": image.caption}, picture]
        return parts

    def _read(self, response: Any) -> Reply:
        empty = Reply("", self.model, "stop", Usage())
        if hasattr(response, "output"):
            return _read_response(empty, response)
        if not getattr(response, "error", None) and not response.choices:
            raise LookupError("an answer without choices")
        return _read_choice(empty, response)

    def _add(self, reply: Reply, event: Any) -> Reply:
        kind = getattr(event, "type", "")
        if kind == "response.output_text.delta":
            return replace(reply, text=reply.text + event.delta)
        if kind in ("response.completed", "response.incomplete", "response.failed"):
            return _read_response(reply, event.response)
        return _read_choice(reply, event)


def first_tokens(logprobs: Any) -> dict[str, float]:
    """Return the most likely first tokens with their log-probabilities; empty if the service gives none.

    Args:
        logprobs: The field of a choice, in the format of chat completions or of legacy completions.
    """
    found = plain(logprobs) or {}
    if content := found.get("content"):  # llama.cpp uses this form for completions, too
        likeliest = content[0].get("top_logprobs") or ()
        return {str(candidate["token"]): float(candidate["logprob"]) for candidate in likeliest}
    older = found.get("top_logprobs") or ()
    return {str(token): float(value) for token, value in (older[0] or {}).items()} if older else {}


def _read_choice(reply: Reply, response: Any) -> Reply:
    """Add a chat completion, or a chunk of one, to a reply.

    Raises:
        ServerFaultError: It holds an error in place of an answer.
    """
    if error := getattr(response, "error", None):
        raise ServerFaultError({"error": plain(error)})
    choices = getattr(response, "choices", None) or ()
    choice = choices[0] if choices else None
    message = message_of(choice) if choice is not None else {}
    new, reason, used = (
        pieces_of(message),
        getattr(choice, "finish_reason", None),
        getattr(response, "usage", None),
    )
    finish: Finish = "refusal" if plain(message).get("refusal") else reply.finish
    ended = finish_of(reason)
    return replace(
        reply,
        text=reply.text + new.text,
        reasoning=reply.reasoning + new.reasoning,
        called=reply.called + new.called,
        model=getattr(response, "model", None) or reply.model,
        finish=finish if ended == "stop" else ended,
        usage=_usage(used) if used else reply.usage,
        logprobs=reply.logprobs or first_tokens(getattr(choice, "logprobs", None)),
    )


def _read_response(reply: Reply, response: Any) -> Reply:
    """Read a response of the Responses API into a reply.

    Raises:
        LookupError: The response reports a failure.
    """
    if response.status == "failed":
        raise LookupError(response.error)
    parts = [part for item in response.output if item.type == "message" for part in item.content]
    refusals = [part.refusal for part in parts if part.type == "refusal"]
    reason = getattr(response.incomplete_details, "reason", None)
    return replace(
        reply,
        text="".join(part.text for part in parts if part.type == "output_text") or "".join(refusals),
        model=response.model or reply.model,
        finish="refusal" if refusals else finish_of(reason),
        usage=_usage(response.usage),
    )


def _usage(usage: Any) -> Usage:
    """Convert OpenAI's token counts, of either format; prompt tokens include cached ones."""
    asked = ("prompt_tokens", "input_tokens")
    written = ("completion_tokens", "output_tokens")
    return Usage(
        input_tokens=read_count(usage, *asked),
        cached_input_tokens=read_count(usage, *(f"{name}_details.cached_tokens" for name in asked)),
        output_tokens=read_count(usage, *written),
        reasoning_tokens=read_count(usage, *(f"{name}_details.reasoning_tokens" for name in written)),
        cache_write_tokens=read_count(usage, *(f"{name}_details.cache_write_tokens" for name in asked)),
    )
