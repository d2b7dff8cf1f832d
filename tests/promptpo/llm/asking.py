"""Helpers of the provider tests: a key that must never be shown, a request, and a provider on a test server."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, get_args

from promptpo.errors import ProviderError
from promptpo.llm.base import ALL_PURPOSES, LLM, Completion, Finish, Message, Request
from tests.promptpo.llm.wire_server import WireServer

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = "sk-test-0123456789abcdefghijklmnopqrstuvwxyz"

REQUEST = Request(
    key="r1.c1",
    purpose="policy",
    system="You write policies.",
    messages=(Message("user", "Write one."),),
    max_output_tokens=1000,
)


def ask(llm: LLM, *requests: Request) -> list[Completion]:
    """Return the answers to concurrent requests in one event loop, and close the provider."""

    async def run() -> list[Completion]:
        try:
            return list(await asyncio.gather(*(llm.complete(request) for request in requests or (REQUEST,))))
        finally:
            await llm.aclose()

    return asyncio.run(run())


@dataclass
class Provider:
    """One of the two SDK providers, pointed at the test server."""

    name: str
    server: WireServer
    defaults: dict[str, Any] = field(default_factory=lambda: {"max_retries": 2, "timeout": 20.0})

    @property
    def key_variable(self) -> str:
        """The environment variable with its key."""
        return f"{self.name.upper()}_API_KEY"

    @property
    def base_url(self) -> str:
        """The server's address in the form that this provider requires."""
        return f"{self.server.address}/v1" if self.name == "openai" else self.server.address

    def make(self, model: str = "model-1", **options: Any) -> LLM:
        """Return a provider for the test server."""
        from promptpo.llm.anthropic import AnthropicLLM
        from promptpo.llm.openai import OpenAILLM

        kind: type[LLM] = OpenAILLM if self.name == "openai" else AnthropicLLM
        settings = {**self.defaults, **options}
        limits = {name: settings.pop(name) for name in ("max_retries", "timeout")}
        limits["busy_retries"] = settings.pop("busy_retries", limits["max_retries"])
        make: Callable[..., LLM] = type(kind.__name__, (kind,), limits)
        return make(model, **{"base_url": self.base_url, **settings})


async def check_contract(llm: LLM, request: Request = REQUEST) -> None:
    """Check everything about a provider that the optimizer relies on.

    It answers one request, several concurrent ones and one after a cancelled one, and may be closed twice.
    """
    assert isinstance(llm, LLM)
    assert llm.name
    assert llm.capabilities.purposes
    assert llm.capabilities.purposes <= ALL_PURPOSES
    answers = [await llm.complete(request)]
    batch = [replace(request, key=f"r2.c{n}") for n in range(1, 9)]
    answers += await asyncio.gather(*map(llm.complete, batch))
    cancelled = asyncio.ensure_future(llm.complete(replace(request, key="r3.c1")))
    await asyncio.sleep(0)
    cancelled.cancel()
    async with asyncio.timeout(60):
        with contextlib.suppress(asyncio.CancelledError, ProviderError):
            await cancelled
    answers.append(await llm.complete(replace(request, key="r4.c1")))
    await llm.aclose()
    await llm.aclose()
    for answer in answers:
        assert isinstance(answer.text, str)
        assert answer.model
        assert answer.finish in get_args(Finish)
        assert 0 <= answer.usage.cached_input_tokens <= answer.usage.input_tokens
        assert (answer.cost_usd or 0.0) >= 0
