"""Use a function from prompt to answer as a language model."""

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
"""A provider, or a function from a prompt to its answer."""


class FunctionLLM(TextProvider):
    """Call a function with the system prompt and the conversation as one text.

    The function may be asynchronous; otherwise it runs in a thread, so that calls are concurrent.

    Args:
        function: Returns the text of the answer.
        name: Its name as for ``--model``; by default the function's.
    """

    capabilities = Capabilities()

    def __init__(self, function: Function, name: str = "") -> None:
        name = name or f"function:{getattr(function, '__name__', type(function).__name__)}"
        super().__init__(name, name, None)
        self._function = function

    async def _answer(self, request: Request, text: str) -> str:
        """Return the function's answer.

        Raises:
            ProviderError: The function raised, or returned no text.
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
    """Return a provider unchanged, or wrap a function in one.

    Args:
        given: The provider or function.
        name: The name of a function's provider.

    Raises:
        UsageError: The object is neither.
    """
    if isinstance(given, LLM):
        return given
    if callable(given) and not hasattr(given, "complete"):
        return FunctionLLM(given, name)
    raise UsageError(
        f"llm= takes a function from a prompt to an answer, or a provider with name, capabilities, complete and aclose, not "
        f"{given!r}; to choose a model by name, use model=."
    )
