"""A provider for tests that answers from a script."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeAlias

from promptpo.errors import FatalProviderError
from promptpo.llm.base import ALL_PURPOSES, CallPurpose, Capabilities, Completion, Request

DEFAULT_PURPOSES: frozenset[CallPurpose] = ALL_PURPOSES - {"probe", "simulator", "spec"}
"""Default purposes of a script: a list of policies expects no requests for experiments, simulators or specs."""

Answer: TypeAlias = str | Completion | BaseException
Script: TypeAlias = Iterable[Answer] | Callable[[Request], Answer | Awaitable[Answer]]


class ScriptedLLM:
    """Answer from a list or a function, and record the requests.

    Example:
        >>> ScriptedLLM(["first answer", "second", ProviderError("overloaded")])
        >>> ScriptedLLM(lambda request: f"answer to {request.key}")

    Args:
        script: A list of answers in the order of the calls: a text or `Completion` is returned, an exception is
            raised. Or a function, possibly asynchronous, from a request to one of these.
        name: Its name as a model.
        purposes: Purposes it claims to serve; by default all but experiments, simulators and specs.
        sees: Whether it claims to accept images.

    Attributes:
        requests: All requests so far.
    """

    def __init__(
        self,
        script: Script,
        *,
        name: str = "scripted",
        purposes: frozenset[CallPurpose] = DEFAULT_PURPOSES,
        sees: bool | None = None,
    ) -> None:
        self.name, self.capabilities = name, Capabilities(purposes, sees=sees)
        self.requests: list[Request] = []
        self._answer = script if callable(script) else None
        self._steps = iter(() if callable(script) else script)

    async def complete(self, request: Request) -> Completion:
        """Answer one request from the script.

        Raises:
            FatalProviderError: The list is exhausted.
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
