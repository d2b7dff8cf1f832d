"""Raw completions: OpenAI's ``/v1/completions``, as llama.cpp, vLLM and others serve it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from promptpo.llm.base import Request, Usage, read_count
from promptpo.llm.embedded import Embedded
from promptpo.llm.openai import OpenAILLM, first_tokens
from promptpo.llm.prices import Price
from promptpo.llm.provider import Reply

if TYPE_CHECKING:
    from collections.abc import Mapping

LIKELIEST = {True: 5, False: 20}
"""Number of likeliest tokens that OpenAI (True) and other servers (False) return."""
MANY_LIKELIEST = 200
"""llama.cpp ranks all tokens before its grammar applies, so a label may be far down."""
LLAMACPP: Mapping[str, Any] = {"cache_prompt": True, "top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0}
"""llama.cpp's own defaults would cut the distribution and penalise repetition, which is the task."""


@dataclass(frozen=True, slots=True)
class TextRequest(Request):
    """A text to continue: system prompt and messages, one after the other.

    Attributes:
        stop: Strings before which the completion ends.
        choices: The only valid completions, if the set is closed.
    """

    stop: tuple[str, ...] = ("\n",)
    choices: tuple[str, ...] = ()


class TextLLM(OpenAILLM):
    """Continues the text of `TextRequest`s.

    Args:
        model: Its name on the server.
        base_url: The server's address, ending in ``/v1``; None means OpenAI's own.
        llamacpp: Whether the server is llama.cpp's, which constrains answers by a grammar and caches prefixes.
        options: Options of the client.

    Raises:
        MissingKeyError: ``OPENAI_API_KEY`` is not set, and no `base_url` is given.
    """

    concurrency = 8
    streamed: ClassVar[Mapping[str, Any]] = {}
    max_retries = 6
    empty_retries = 0  # an empty continuation is an answer

    def __init__(self, model: str, *, llamacpp: bool = False, **options: Any) -> None:
        super().__init__(model, **({"price": Price(0.0, 0.0)} if llamacpp else {}) | options)
        self.name = f"{'llamacpp' if llamacpp else 'completion'}:{model}"
        self._llamacpp = llamacpp

    @property
    def _limit_names(self) -> tuple[str, ...]:
        return ("max_tokens",)

    def _completion_settings(self, request: Request) -> dict[str, Any]:
        likeliest = MANY_LIKELIEST if self._llamacpp else LIKELIEST[self._official]
        return {"logprobs": likeliest if request.top_logprobs else None}

    async def _send(self, request: Any, settings: dict[str, Any]) -> Any:
        special: dict[str, Any] = dict(LLAMACPP) if self._llamacpp else {}
        if special and request.choices:
            special["grammar"] = "root ::= " + " | ".join(map(json.dumps, request.choices))
        return await self._client.completions.create(
            model=self.model,
            prompt=request.system + "".join(turn.content for turn in request.messages),
            stop=list(request.stop),
            top_p=1.0,
            extra_body=special,
            **settings,
        )

    def _read(self, response: Any) -> Reply:
        choice, usage = response.choices[0], response.usage
        timings = getattr(response, "timings", None) or {}  # llama.cpp's own field
        cached = read_count(usage, "prompt_tokens_details.cached_tokens") or timings.get("cache_n", 0)
        used = Usage(read_count(usage, "prompt_tokens"), cached, read_count(usage, "completion_tokens"))
        return Reply(choice.text or "", self.model, "stop", used, first_tokens(choice.logprobs))


class EmbeddedText(Embedded, TextLLM):
    """A small model in a server of our own, started with the first request; see `Embedded`."""

    def __init__(self, model: str) -> None:
        super().__init__(model, llamacpp=True)
