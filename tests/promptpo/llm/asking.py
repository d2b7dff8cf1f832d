"""Helpers of the provider tests: a key that must never show, a request, and a provider on a test server."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from promptpo.llm.base import LLM, Completion, Message, Request
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
    """The answers to requests made at once, in one event loop, closing the provider after them."""

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
        """Where it finds its key."""
        return f"{self.name.upper()}_API_KEY"

    @property
    def base_url(self) -> str:
        """The server's address as this provider wants it."""
        return f"{self.server.address}/v1" if self.name == "openai" else self.server.address

    def make(self, model: str = "model-1", **options: Any) -> LLM:
        """A provider for the test server."""
        from promptpo.llm.anthropic import AnthropicLLM
        from promptpo.llm.openai import OpenAILLM

        kind: type[LLM] = OpenAILLM if self.name == "openai" else AnthropicLLM
        given = {**self.defaults, **options}
        limits = {name: given.pop(name) for name in ("max_retries", "timeout")}
        limits["busy_retries"] = given.pop("busy_retries", limits["max_retries"])
        make: Callable[..., LLM] = type(kind.__name__, (kind,), limits)
        return make(model, **{"base_url": self.base_url, **given})
