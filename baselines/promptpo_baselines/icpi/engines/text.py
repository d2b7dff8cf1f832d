"""Raw completions: OpenAI's ``/v1/completions``, as llama.cpp, vLLM and others serve it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from promptpo.llm.base import Completion, Request, Usage, counted
from promptpo.llm.embedded import PARALLEL, LocalServer
from promptpo.llm.openai import OpenAILLM, first_tokens
from promptpo.llm.prices import Price
from promptpo.llm.sdk import Reply

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_RETRIES = 6
LIKELIEST = {True: 5, False: 20}
"""How many likeliest tokens OpenAI gives, and other servers."""
MANY_LIKELIEST = 200
"""llama.cpp counts all tokens before its grammar does, so a label may stand far down."""
LLAMACPP: Mapping[str, Any] = {"cache_prompt": True, "top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0}
"""llama.cpp's own defaults would cut the distribution and punish repetition, which is the task."""


@dataclass(frozen=True, slots=True)
class TextRequest(Request):
    """A text to be continued: system prompt and messages, one after the other.

    Attributes:
        stop: Strings before which the completion ends.
        choices: The only valid completions, where the set is closed.
    """

    stop: tuple[str, ...] = ("\n",)
    choices: tuple[str, ...] = ()


class TextLLM(OpenAILLM):
    """Continues the text of `TextRequest`s.

    Args:
        model: As the server calls it.
        base_url: Its address, ending in ``/v1``; None means OpenAI's own.
        llamacpp: The server is llama.cpp's, which is held to the valid answers by a grammar and keeps prefixes.
        max_retries: How often the client retries a request.
        asked: Whether it is asked at this address.

    Raises:
        MissingKeyError: ``OPENAI_API_KEY`` is not set, and no `base_url` is given.
    """

    concurrency = 8
    streamed: ClassVar[Mapping[str, Any]] = {}

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        llamacpp: bool = False,
        max_retries: int = MAX_RETRIES,
        asked: bool = True,
    ) -> None:
        price = Price(0.0, 0.0) if llamacpp else None
        super().__init__(model, base_url=base_url, max_retries=max_retries, price=price, asked=asked)
        self.name = f"{'llamacpp' if llamacpp else 'completion'}:{model}"
        self._llamacpp = llamacpp

    async def complete(self, request: Request) -> Completion:
        """Continue one text; an empty continuation is an answer.

        Raises:
            ProviderError: It cannot be continued, after the client's own retries.
        """
        started = time.perf_counter()
        reply = await self._ask(request, request.max_output_tokens)
        seconds = time.perf_counter() - started
        cost = self._cost([reply])
        return Completion(
            reply.text, reply.model, reply.finish, reply.usage, cost, seconds, logprobs=reply.logprobs
        )

    @property
    def _limit_names(self) -> tuple[str, ...]:
        return ("max_tokens",)

    def _wanted(self, request: Request) -> dict[str, Any]:
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
        cached = counted(usage, "prompt_tokens_details.cached_tokens") or timings.get("cache_n", 0)
        used = Usage(counted(usage, "prompt_tokens"), cached, counted(usage, "completion_tokens"))
        return Reply(choice.text or "", self.model, "stop", used, first_tokens(choice.logprobs))


class EmbeddedText(TextLLM):
    """A small model in a server of our own, started with the first request.

    Args:
        model: One of `promptpo.llm.embedded.WEIGHTS`.

    Raises:
        UsageError: There is no such model.
        MissingExtraError: A package is not installed.
    """

    concurrency = PARALLEL

    def __init__(self, model: str) -> None:
        self._server = LocalServer(model)
        super().__init__(model, base_url="http://127.0.0.1/v1", llamacpp=True, asked=False)
        self.name = f"embedded:{model}"  # the same in every run, unlike its address

    async def complete(self, request: Request) -> Completion:
        """Continue one text; see `TextLLM.complete`."""
        if "_client" not in vars(self):
            self._address = f"{self._server.start()}/v1"
        return await super().complete(request)

    async def aclose(self) -> None:
        """End the server; calling it twice is harmless."""
        await super().aclose()
        self._server.stop()
