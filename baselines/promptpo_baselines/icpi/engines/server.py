"""Raw completions over HTTP: OpenAI's ``/v1/completions``, as llama.cpp, vLLM and others serve it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from promptpo.errors import ProviderError
from promptpo.llm.base import Usage
from promptpo.llm.failures import Service, explain, public_address, read_key
from promptpo.llm.openai import first_tokens
from promptpo.llm.prices import price_of
from promptpo_baselines.icpi.engines.paid import ContextOverflowError
from promptpo_baselines.icpi.values import CompletionRequest, Result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

KEY_VARIABLE = "OPENAI_API_KEY"
TIMEOUT_SECONDS = 300.0
MAX_RETRIES = 6
CONCURRENCY = 8
LIKELIEST = {False: 5, True: 20}
"""How many likeliest tokens OpenAI gives, and other servers."""
MANY_LIKELIEST = 200
AROUND_LABELS = " \t\n()\u2581\u0120"
"""What tokenizers write before a word, and what a question writes around a label."""


class CompletionServer:
    """Completes prompts through the official OpenAI client, which retries what can be retried.

    It honours Retry-After and waits longer from one try to the next; a request that still fails ends the
    run, which can be resumed.

    Args:
        model: As the server calls it.
        base_url: Its address, ending in ``/v1``; None means OpenAI's own.
        llamacpp: The server is llama.cpp's, which is held to the valid answers by a grammar, keeps prefixes and
            repeats itself without penalty.
        timeout: Seconds until a request is given up.
        max_retries: How often the client retries a request.
        concurrency: Requests in flight.

    Raises:
        MissingKeyError: ``OPENAI_API_KEY`` is not set, and no `base_url` is given.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        llamacpp: bool = False,
        timeout: float = TIMEOUT_SECONDS,
        max_retries: int = MAX_RETRIES,
        concurrency: int = CONCURRENCY,
    ) -> None:
        import openai

        provider = "llamacpp" if llamacpp else "completion"
        self.name = f"{provider}:{model}"
        self.concurrency = concurrency
        self._model, self._llamacpp, self._sdk = model, llamacpp, openai
        key = read_key(KEY_VARIABLE, provider=provider, placeholder_allowed=base_url is not None)
        self._client = openai.AsyncOpenAI(
            api_key=key, base_url=base_url, timeout=timeout, max_retries=max_retries
        )
        address = public_address(str(self._client.base_url))
        self._service = Service(provider, model, KEY_VARIABLE, address, timeout, key)
        self._price = price_of("openai", model, listed=base_url is None)
        # llama.cpp counts all tokens before its grammar does, so a label may stand far down.
        self._likeliest = MANY_LIKELIEST if llamacpp else LIKELIEST[base_url is not None]
        self._free = llamacpp and base_url is not None

    async def complete(self, request: CompletionRequest) -> Result:
        """Complete one prompt.

        Raises:
            ContextOverflowError: It is too long for the server.
            ProviderError: It cannot be completed, after the client's own retries.
        """
        try:
            response = await self._client.completions.create(
                model=self._model,
                prompt=request.prompt,
                max_tokens=request.max_tokens,
                temperature=request.temperature,
                top_p=1.0,
                stop=list(request.stop),
                logprobs=self._likeliest if request.score else self._sdk.omit,
                extra_body=llamacpp_settings(request) if self._llamacpp else {},
            )
        except self._sdk.APIError as error:
            too_long = isinstance(error, self._sdk.BadRequestError) and "context" in str(error).lower()
            failure = explain(error, self._sdk, self._service)
        else:
            return self._read(request, response)
        raise ContextOverflowError(str(failure)) if too_long else failure

    async def aclose(self) -> None:
        """Release connections; calling it twice is harmless."""
        await self._client.close()

    def _read(self, request: CompletionRequest, response: Any) -> Result:
        if not getattr(response, "choices", None):
            raise ProviderError(f"{self.name}: the server sent something that is no completion.")
        usage = Usage(
            getattr(response.usage, "prompt_tokens", 0) or 0,
            _cached_tokens(response),
            getattr(response.usage, "completion_tokens", 0) or 0,
        )
        cost = 0.0 if self._free else self._price.cost(usage) if self._price else None
        choice = response.choices[0]
        tokens = likeliest_first(getattr(choice, "logprobs", None))
        return Result(choice.text or "", usage, cost, of_choices(tokens, request.choices or ()))


def llamacpp_settings(request: CompletionRequest) -> dict[str, Any]:
    """What llama.cpp is told; its own defaults would cut the distribution and punish repetition, which is the task."""
    settings: dict[str, Any] = {"cache_prompt": True, "top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0}
    if request.choices:
        settings["grammar"] = "root ::= " + " | ".join(json.dumps(choice) for choice in request.choices)
    return settings


def tokenizer(base_url: str) -> Callable[[str], int]:
    """A function that counts tokens as a llama.cpp server does; each text is sent once.

    Args:
        base_url: The server's address, ending in ``/v1``.
    """
    import httpx

    client = httpx.Client(base_url=base_url.rstrip("/").removesuffix("/v1"), timeout=60.0)
    known: dict[str, int] = {}

    def count(text: str) -> int:
        if text not in known:
            try:
                answer = client.post("/tokenize", json={"content": text, "add_special": False})
                known[text] = len(answer.raise_for_status().json()["tokens"])
            except (httpx.HTTPError, ValueError, KeyError) as error:
                raise ProviderError(f"the server at {base_url} does not count tokens: {error}.") from error
        return known[text]

    return count


def likeliest_first(logprobs: Any) -> dict[str, float]:
    """The likeliest first tokens of a completion, as OpenAI writes them and as llama.cpp does; else empty."""
    try:
        return first_tokens(logprobs)
    except (AttributeError, TypeError, ValueError, LookupError):
        return {}


def of_choices(tokens: Mapping[str, float], choices: Sequence[str]) -> dict[str, float]:
    """The tokens that stand for a choice, and the least likely of all, which says what the others have at most."""
    if not tokens:
        return {}
    least = min(tokens, key=tokens.__getitem__)
    return {
        token: value
        for token, value in tokens.items()
        if token == least or token.strip(AROUND_LABELS) in choices
    }


def _cached_tokens(response: Any) -> int:
    """Prompt tokens that came from the server's cache, where it says so."""
    details = getattr(response.usage, "prompt_tokens_details", None)
    timings = getattr(response, "timings", None)  # llama.cpp's own field
    from_timings = timings.get("cache_n", 0) if isinstance(timings, dict) else 0
    return int(getattr(details, "cached_tokens", None) or from_timings or 0)
