"""``openai:MODEL``: OpenAI's chat completions, and every server that speaks that format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from promptpo.llm.failures import Service, read_key
from promptpo.llm.sdk import MAX_RETRIES, TIMEOUT_SECONDS, Reply, SDKProvider
from promptpo.records import Usage

if TYPE_CHECKING:
    from promptpo.llm.base import Finish, Request

KEY_VARIABLE = "OPENAI_API_KEY"
OFFICIAL_HOST = "api.openai.com"

_FINISH: dict[str | None, Finish] = {"length": "length", "content_filter": "refusal"}


class OpenAILLM(SDKProvider):
    """Chat completions through the official client.

    The prefix of a prompt is cached by the service itself; what was read from the cache is recorded.

    Args:
        model: As the service calls it.
        base_url: Address of a compatible server, usually ending in ``/v1`` (Ollama, vLLM, llama.cpp,
            LM Studio, OpenRouter); the key is then optional.
        timeout: Seconds until a request is given up.
        max_retries: How often the client retries a request.

    Raises:
        MissingKeyError: ``OPENAI_API_KEY`` is not set, and no `base_url` is given.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        max_retries: int = MAX_RETRIES,
    ) -> None:
        import openai  # noqa: PLC0415 - it costs half a second; only its own provider pays

        key = read_key(KEY_VARIABLE, provider="openai", placeholder_allowed=base_url is not None)
        self._client = openai.AsyncOpenAI(
            api_key=key, base_url=base_url, timeout=timeout, max_retries=max_retries
        )
        address = str(self._client.base_url)
        self._official = urlsplit(address).hostname == OFFICIAL_HOST
        super().__init__(
            openai,
            Service("openai", model, KEY_VARIABLE, address, timeout, key),
            model,
            official=self._official,
        )

    def _settings(self, request: Request, limit: int) -> dict[str, Any]:
        settings: dict[str, Any] = {}
        if request.temperature is not None and "temperature" not in self._refused:
            settings["temperature"] = request.temperature
        # OpenAI's reasoning models know only the new name; compatible servers all know the old one.
        names = (
            ("max_completion_tokens", "max_tokens")
            if self._official
            else ("max_tokens", "max_completion_tokens")
        )
        name = next((name for name in names if name not in self._refused), None)
        if name:
            settings[name] = limit
        return settings

    def _may_refuse(self, settings: dict[str, Any]) -> tuple[str, ...]:
        return tuple(settings)

    async def _send(self, request: Request, settings: dict[str, Any]) -> Any:
        system = [{"role": "system", "content": request.system}] if request.system else []
        turns = [{"role": message.role, "content": message.content} for message in request.messages]
        return await self._client.chat.completions.create(
            model=self.model, messages=cast("Any", [*system, *turns]), **settings
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

    async def aclose(self) -> None:
        """Release connections; calling it twice is harmless."""
        await self._client.close()


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
