"""A chat model as a completion engine: any of promptpo's own providers."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

from promptpo.errors import ProviderError
from promptpo.llm.base import Message
from promptpo.llm.base import Request as ChatRequest
from promptpo_baselines.icpi.engines.paid import ContextOverflowError
from promptpo_baselines.icpi.engines.server import of_choices
from promptpo_baselines.icpi.values import CompletionRequest, Result

if TYPE_CHECKING:
    from promptpo.llm.base import LLM

SYSTEM = (
    "You are given the beginning of a Python file. Continue it: answer with the next line of the file and "
    "nothing else. Do not explain, do not repeat what is there, do not use Markdown. Everything that you "
    "need to know about the functions can be seen in the file."
)
ANSWER_TOKENS = 1024
"""A model that reasons needs room before its line; only one line is taken."""
CONCURRENCY = 4
TOP_LOGPROBS = 20
"""The most that OpenAI gives."""

_FENCE = re.compile(r"^\s*(```|~~~)")
_TOO_LONG = re.compile(r"do not fit into the context")


class ChatCompleter:
    """Asks a chat model for the next line.

    The examples are one message and the question is the next, so that a provider can cache the former.

    Args:
        llm: The provider.
        concurrency: Requests in flight.
    """

    def __init__(self, llm: LLM, *, concurrency: int = CONCURRENCY) -> None:
        self.name = llm.name
        self.concurrency = concurrency
        self._llm = llm
        self._number = count(1)

    async def complete(self, request: CompletionRequest) -> Result:
        """Ask for one line.

        Raises:
            ContextOverflowError: The prompt is too long.
            ProviderError: It cannot be answered.
        """
        try:
            completion = await self._llm.complete(
                chat_request(request, f"{'step' if request.system else 'icpi'}.{next(self._number)}")
            )
        except ProviderError as error:
            if _TOO_LONG.search(str(error)):
                raise ContextOverflowError(str(error)) from error
            raise
        text = completion.text if request.system else answer_line(completion.text)
        return Result(
            text,
            completion.usage,
            completion.cost_usd,
            of_choices(completion.logprobs, request.choices or ()),
        )

    async def aclose(self) -> None:
        """Release connections; calling it twice is harmless."""
        await self._llm.aclose()


def chat_request(request: CompletionRequest, key: str) -> ChatRequest:
    """A completion request as a chat request: as its own instruction says, or as a file to go on with."""
    if request.system:
        return ChatRequest(
            key=key,
            purpose="policy",
            system=request.system,
            messages=(Message("user", request.head), Message("user", request.examples + request.query)),
            stable_messages=1,
            max_output_tokens=ANSWER_TOKENS,
            temperature=request.temperature,
            top_logprobs=TOP_LOGPROBS if request.score else 0,
        )
    question = request.query
    if request.choices:
        question += "\n(The next line is one of these:\n" + "\n".join(request.choices) + ")\n"
    return ChatRequest(
        key=key,
        purpose="policy",
        system=SYSTEM,
        messages=(Message("user", request.examples), Message("user", question)),
        stable_messages=1 if request.shared else 0,
        max_output_tokens=ANSWER_TOKENS,
        temperature=request.temperature,
    )


def answer_line(text: str) -> str:
    """The first line that is neither empty nor a Markdown fence."""
    return next((line for line in text.splitlines() if line.strip() and not _FENCE.match(line)), "")
