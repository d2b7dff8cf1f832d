"""``openai:MODEL``: OpenAI's chat completions, and every server that speaks that format.

Models that OpenAI offers through its Responses API only are asked there, once the service has said so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from promptpo.llm.base import Usage
from promptpo.llm.sdk import Reply, SDKProvider

if TYPE_CHECKING:
    from promptpo.llm.base import Effort, Finish, Message, Request
    from promptpo.llm.stills import Still

_RESPONSES_ONLY = re.compile(r"(?:supported|use|available)\b.{0,40}\bv1/responses", re.IGNORECASE)
_FINISH: dict[str | None, Finish] = {
    "length": "length",
    "max_output_tokens": "length",
    "content_filter": "refusal",
}


class OpenAILLM(SDKProvider):
    """Chat completions through the official client.

    The prefix of a prompt is cached by the service itself; what was read from the cache is recorded.

    The address of a compatible server (Ollama, vLLM, llama.cpp, LM Studio, OpenRouter) usually ends in ``/v1``.
    """

    provider = "openai"
    client = "AsyncOpenAI"
    key_variable = "OPENAI_API_KEY"
    address_variable = "OPENAI_BASE_URL"
    official_host = "api.openai.com"

    # The tokens are counted in a last event, where it is asked for.
    streamed: ClassVar[Mapping[str, Any]] = {"stream": True, "stream_options": {"include_usage": True}}

    _responses = False

    @property
    def _limit_names(self) -> tuple[str, ...]:
        if self._responses:
            return ("max_output_tokens",)
        # OpenAI's reasoning models know only the new name; compatible servers all know the old one.
        names = ("max_completion_tokens", "max_tokens")
        return names if self._official else names[::-1]

    def _effort(self, effort: Effort) -> dict[str, Any]:
        return {"reasoning": {"effort": effort}} if self._responses else {"reasoning_effort": effort}

    def _top_logprobs(self, count: int) -> dict[str, Any]:
        return {} if self._responses else {"logprobs": True, "top_logprobs": count}

    def _belongs_elsewhere(self, error: Any) -> bool:
        # By where this call went, since several may be in flight when the first of them finds out.
        asked_there = error.request.url.path.endswith("/responses")
        if asked_there or not _RESPONSES_ONLY.search(f"{error} {getattr(error, 'body', '')}"):
            return False
        self._responses = True
        return True

    async def _send(self, request: Request, settings: dict[str, Any]) -> Any:
        if self._responses:
            settings.pop("stream_options", None)
            return await self._client.responses.create(
                model=self.model,
                instructions=request.system or self._sdk.omit,
                input=[{"role": turn.role, "content": _in_response(turn)} for turn in request.messages],
                store=False,
                **settings,
            )
        system = [{"role": "system", "content": request.system}] if request.system else []
        turns: list[Any] = [{"role": turn.role, "content": _in_chat(turn)} for turn in request.messages]
        return await self._client.chat.completions.create(
            model=self.model, messages=[*system, *turns], **settings
        )

    def _whole(self, content: dict[str, Any]) -> Any:
        types = self._sdk.types
        return (types.responses.Response if self._responses else types.chat.ChatCompletion).construct(
            **content
        )

    def _read(self, response: Any) -> Reply:
        if isinstance(response, self._sdk.types.responses.Response):
            return _read_response(response, self.model)
        message = response.choices[0].message
        if message is None:
            raise LookupError("a choice without a message")
        return self._choice(Reply("", self.model, "stop", Usage()), response, message)

    def _add(self, reply: Reply, event: Any) -> Reply:
        kind = getattr(event, "type", "")
        if kind == "response.output_text.delta":
            return replace(reply, text=reply.text + event.delta)
        if kind in ("response.completed", "response.incomplete", "response.failed"):
            return _read_response(event.response, self.model)
        choices = getattr(event, "choices", ())
        return self._choice(reply, event, choices[0].delta if choices else None)

    def _choice(self, reply: Reply, response: Any, message: Any) -> Reply:
        """What is known with a chat completion, or a part of one, of which `message` is new."""
        refusal = getattr(message, "refusal", None)
        choice = response.choices[0] if message is not None else None
        reason = getattr(choice, "finish_reason", None)
        finish: Finish = "refusal" if refusal else reply.finish
        used = getattr(response, "usage", None)
        return replace(
            reply,
            text=reply.text + (getattr(message, "content", None) or refusal or ""),
            model=getattr(response, "model", None) or reply.model,
            finish=_FINISH.get(reason, finish) if reason else finish,
            usage=_usage(used) if used else reply.usage,
            cache_write_tokens=_detail(getattr(used, "prompt_tokens_details", None), "cache_write_tokens")
            or reply.cache_write_tokens,
            logprobs=reply.logprobs or first_tokens(getattr(choice, "logprobs", None)),
        )


def first_tokens(logprobs: Any) -> dict[str, float]:
    """What could have been the first token of an answer, with log-probabilities; empty where nothing says it.

    Args:
        logprobs: Of a choice, in the format of chat completions, or of the older completions.
    """
    content = getattr(logprobs, "content", None)
    if content:
        # llama.cpp's completions have the form of chat completions, which the client then leaves as it came.
        first = content[0] if isinstance(content[0], dict) else content[0].model_dump()
        return {str(one["token"]): float(one["logprob"]) for one in first.get("top_logprobs") or ()}
    older = getattr(logprobs, "top_logprobs", None) or ()
    return {str(token): float(value) for token, value in (older[0] or {}).items()} if older else {}


def _in_chat(turn: Message) -> Any:
    """A turn's content; text alone stays text, which every compatible server takes."""
    if not turn.stills:
        return turn.content
    parts: list[dict[str, Any]] = [{"type": "text", "text": turn.content}]
    for still in turn.stills:
        parts.append({"type": "text", "text": still.caption})
        parts.append({"type": "image_url", "image_url": {"url": _address(still)}})
    return parts


def _in_response(turn: Message) -> Any:
    """The same as the Responses API has it."""
    if not turn.stills:
        return turn.content
    parts: list[dict[str, Any]] = [{"type": "input_text", "text": turn.content}]
    for still in turn.stills:
        parts.append({"type": "input_text", "text": still.caption})
        parts.append({"type": "input_image", "image_url": _address(still), "detail": "auto"})
    return parts


def _address(still: Still) -> str:
    return f"data:image/png;base64,{still.base64}"


def _read_response(response: Any, model: str) -> Reply:
    """A response of the Responses API.

    Raises:
        LookupError: It says that it failed.
    """
    if response.status == "failed":
        raise LookupError(response.error)
    parts = [part for item in response.output if item.type == "message" for part in item.content]
    refusals = [part.refusal for part in parts if part.type == "refusal"]
    reason = getattr(response.incomplete_details, "reason", None)
    usage = response.usage
    return Reply(
        text=response.output_text or "".join(refusals),
        model=response.model or model,
        finish="refusal" if refusals else _FINISH.get(reason, "stop"),
        usage=Usage(
            input_tokens=usage.input_tokens or 0,
            cached_input_tokens=_detail(usage.input_tokens_details, "cached_tokens"),
            output_tokens=usage.output_tokens or 0,
            reasoning_tokens=_detail(usage.output_tokens_details, "reasoning_tokens"),
        )
        if usage
        else Usage(),
        cache_write_tokens=_detail(getattr(usage, "input_tokens_details", None), "cache_write_tokens"),
    )


def _usage(usage: Any) -> Usage:
    """Tokens as OpenAI counts them: the prompt includes what was cached."""
    if usage is None:  # some compatible servers do not count
        return Usage()
    return Usage(
        input_tokens=usage.prompt_tokens or 0,
        cached_input_tokens=_detail(getattr(usage, "prompt_tokens_details", None), "cached_tokens"),
        output_tokens=usage.completion_tokens or 0,
        reasoning_tokens=_detail(getattr(usage, "completion_tokens_details", None), "reasoning_tokens"),
    )


def _detail(details: Any, name: str) -> int:
    return getattr(details, name, None) or 0
