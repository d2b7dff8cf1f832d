"""``openai:MODEL``: OpenAI's chat completions, and every server that speaks that format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from promptpo.llm.base import Usage
from promptpo.llm.sdk import Reply, SDKProvider

if TYPE_CHECKING:
    from promptpo.llm.base import Finish, Request

_FINISH: dict[str | None, Finish] = {"length": "length", "content_filter": "refusal"}


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

    @property
    def _limit_names(self) -> tuple[str, ...]:
        # OpenAI's reasoning models know only the new name; compatible servers all know the old one.
        names = ("max_completion_tokens", "max_tokens")
        return names if self._official else names[::-1]

    async def _send(self, request: Request, settings: dict[str, Any]) -> Any:
        system = [{"role": "system", "content": request.system}] if request.system else []
        turns = [{"role": message.role, "content": message.content} for message in request.messages]
        return await self._client.chat.completions.create(
            model=self.model, messages=[*system, *turns], **settings
        )

    def _read(self, response: Any) -> Reply:
        choice = response.choices[0]
        message, reason = choice.message, choice.finish_reason
        refusal = getattr(message, "refusal", None)
        return Reply(
            text=message.content or refusal or "",
            model=response.model or self.model,
            finish="refusal" if refusal else _FINISH.get(reason, "stop"),
            usage=_usage(response.usage),
            cache_write_tokens=_detail(response.usage, "cache_write_tokens"),
        )


def _usage(usage: Any) -> Usage:
    """Tokens as OpenAI counts them: the prompt includes what was cached."""
    if usage is None:  # some compatible servers do not count
        return Usage()
    return Usage(
        input_tokens=usage.prompt_tokens or 0,
        cached_input_tokens=_detail(usage, "cached_tokens"),
        output_tokens=usage.completion_tokens or 0,
    )


def _detail(usage: Any, name: str) -> int:
    return getattr(getattr(usage, "prompt_tokens_details", None), name, None) or 0
