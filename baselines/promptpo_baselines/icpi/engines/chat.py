"""Completion requests in the form that a language model takes: a text to continue, or a turn of a conversation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from promptpo.llm.base import Message, Request
from promptpo_baselines.icpi.engines.text import TextLLM, TextRequest

if TYPE_CHECKING:
    from promptpo.llm.base import LLM
    from promptpo_baselines.icpi.values import CompletionRequest

SYSTEM = (
    "You are given the beginning of a Python file. Continue it: answer with the next line of the file and "
    "nothing else. Do not explain, do not repeat what is there, do not use Markdown. Everything that you "
    "need to know about the functions can be seen in the file."
)
ANSWER_TOKENS = 1024
"""A reasoning model needs room before its line; only one line is used."""
TOP_LOGPROBS = 20
"""Maximum number that OpenAI returns."""

_FENCE = re.compile(r"^\s*(```|~~~)")


def build_request(llm: LLM, request: CompletionRequest, key: str) -> Request:
    """Build the request to a model: with its own instruction, or, in chat without one, as a file to continue.

    In chat the examples are one message and the question is the next, so that a provider can cache the former.
    """
    head, question, likeliest = request.head, request.query, TOP_LOGPROBS if request.score else 0
    if isinstance(llm, TextLLM):
        text = (Message("user", head + request.examples + question),)
        return TextRequest(
            key, "policy", request.system, text, 1, request.max_tokens, request.temperature,
            top_logprobs=likeliest, stop=request.stop, choices=request.choices or (),
        )  # fmt: skip
    parts = (head, request.examples + question)
    if not request.system:
        if request.choices:
            question += "\n(The next line is one of these:\n" + "\n".join(request.choices) + ")\n"
        parts, likeliest = (request.examples, question), 0
    return Request(
        key, "policy", request.system or SYSTEM, tuple(Message("user", part) for part in parts),
        int(request.shared), ANSWER_TOKENS, request.temperature, top_logprobs=likeliest,
    )  # fmt: skip


def answer_line(text: str) -> str:
    """Return the first line that is neither empty nor a Markdown fence."""
    return next((line for line in text.splitlines() if line.strip() and not _FENCE.match(line)), "")
