"""A provider for tests: answers what it is told to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeAlias

from promptpo.errors import FatalProviderError
from promptpo.llm.base import ALL_PURPOSES, CallPurpose, Capabilities, Completion, Request

MOST_PURPOSES: frozenset[CallPurpose] = ALL_PURPOSES - {"probe", "simulator", "spec"}
"""What a script answers unless it says more: a list of answers to policies expects no request for experiments, a simulator or a spec."""

Answer: TypeAlias = str | Completion | BaseException
Script: TypeAlias = Iterable[Answer] | Callable[[Request], Answer | Awaitable[Answer]]


class ScriptedLLM:
    """Answers from a list or a function, and remembers what it was asked.

    Example:
        >>> ScriptedLLM(["first answer", "second", ProviderError("overloaded")])
        >>> ScriptedLLM(lambda request: f"answer to {request.key}")

    Args:
        script: A list is used up in the order of the calls: a text or a `Completion` is the answer, an
            exception is raised. A function is called with each request and returns one of these; it may be
            asynchronous.
        name: What the run shows as its model.
        purposes: What it claims to answer; by default everything but requests for experiments and simulators.
        sees: Whether it claims to see pictures.

    Attributes:
        requests: All requests so far.
    """

    def __init__(
        self,
        script: Script,
        *,
        name: str = "scripted",
        purposes: frozenset[CallPurpose] = MOST_PURPOSES,
        sees: bool | None = None,
    ) -> None:
        self.name, self.capabilities = name, Capabilities(purposes, sees=sees)
        self.requests: list[Request] = []
        self._answer = script if callable(script) else None
        self._steps = iter(() if callable(script) else script)

    async def complete(self, request: Request) -> Completion:
        """Answer one request from the script.

        Raises:
            FatalProviderError: The list is used up.
        """
        self.requests.append(request)
        answer = await self._next(request)
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, Completion) else Completion(answer, self.name, cost_usd=0.0)

    async def _next(self, request: Request) -> Answer:
        if self._answer is not None:
            answer = self._answer(request)
            return await answer if isinstance(answer, Awaitable) else answer
        for answer in self._steps:
            return answer
        raise FatalProviderError(f"the script has no answer left for {request.key}.")

    async def aclose(self) -> None:
        """Nothing to release."""
