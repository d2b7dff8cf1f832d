"""A function as a language model: it takes a prompt as text and returns the answer's."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

from promptpo.errors import ProviderError, UsageError
from promptpo.llm.base import LLM, Capabilities
from promptpo.llm.command import TextProvider

if TYPE_CHECKING:
    from promptpo.llm.base import Request

Function: TypeAlias = Callable[[str], str | Awaitable[str]]
LLMLike: TypeAlias = LLM | Function
"""A provider as a person has it: an object, or a function from a prompt to its answer."""


class FunctionLLM(TextProvider):
    """Asks a function of one text, the system prompt and the conversation; it may be asynchronous.

    Any other one runs in a thread, so that several calls are made at once.

    Args:
        function: Returns the answer's text.
        name: What ``--model`` would say.
    """

    capabilities = Capabilities()

    def __init__(self, function: Function, name: str = "") -> None:
        name = name or f"function:{getattr(function, '__name__', type(function).__name__)}"
        super().__init__(name, name, None)
        self._function = function

    async def _answer(self, request: Request, text: str) -> str:
        """Return the function's answer.

        Raises:
            ProviderError: It raised, or returned no text.
        """
        del request
        try:
            if inspect.iscoroutinefunction(self._function):
                answer = await self._function(text)
            else:
                answer = await asyncio.to_thread(self._function, text)
        except ProviderError:
            raise
        except Exception as error:
            raise ProviderError(f"{self.name} raised {type(error).__name__}: {error}.") from error
        if not isinstance(answer, str):
            raise ProviderError(f"{self.name} returned a {type(answer).__name__} instead of text.")
        return answer


def as_llm(given: LLMLike, name: str = "") -> LLM:
    """The provider that somebody gave: itself, or one that asks a function.

    Args:
        given: What was given.
        name: What the provider of a function is called.

    Raises:
        UsageError: It is neither.
    """
    if isinstance(given, LLM):
        return given
    if callable(given) and not hasattr(given, "complete"):
        return FunctionLLM(given, name)
    raise UsageError(
        f"llm= takes a function from a prompt to an answer, or a provider with name, capabilities, complete and aclose, not "
        f"{given!r}; to choose a model by name, use model=."
    )
