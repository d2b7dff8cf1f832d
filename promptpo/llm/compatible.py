"""Peculiarities of compatible servers: refusals, forms of answers, and routes.

The patterns of error messages come from the sources of chat templates (Gemma, Mistral, Llama), vLLM, SGLang, llama.cpp,
text-generation-inference, Ollama, LM Studio, OpenRouter, DeepSeek, Mistral and Groq.
"""

from __future__ import annotations

import ipaddress
import os
import re
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from promptpo.errors import UsageError
from promptpo_sandbox.text import clean_name

if TYPE_CHECKING:
    from promptpo.llm.base import Finish, Request

REFUSES = (400, 422)
_INTERNAL = 500

_NO_SYSTEM = re.compile(
    r"\bsystem\b.{0,80}\b(?:role|message|prompt|instruction)|\b(?:role|message|prompt|instruction).{0,80}\bsystem\b"
    r"|roles? must alternate|only.{0,20}\buser\b.{0,20}\bassistant\b|should be.{0,20}\buser\b.{0,20}\bassistant\b"
    r"|developer instruction",
    re.IGNORECASE | re.DOTALL,
)
_LIMIT = re.compile(
    r"max(?:imum)?[\s_]*(?:new|output|completion)?[\s_]*tokens|output tokens|in the completion", re.IGNORECASE
)
_NO_ROUTE = re.compile(
    r"^(?:404 page )?not found\W*$|unexpected endpoint|(?:unknown|invalid|no such) (?:endpoint|route|url)|cannot post",
    re.IGNORECASE,
)
_NO_TEXT = re.compile(r"embed|rerank|\b(?:bge|gte|e5)-|minilm|whisper|\btts\b|moderation", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.-])\d[\d,]*(?![\w-]|\.\d)")
_CONTEXT = re.compile(r"context\D{0,60}(\d[\d,]*)", re.IGNORECASE)
_PROMPT = re.compile(
    r"(\d[\d,]*)\s+(?:input tokens|prompt tokens|tokens? in the (?:input|prompt)|in the messages|of text input)"
    r"|(?:input|prompt)\D{0,30}?(\d[\d,]*)",
    re.IGNORECASE,
)

CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
PROXIES = ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY")
"""Environment variables for certificates and proxies, in upper or lower case."""

MIN_TOKENS = 256
"""Smallest limit that leaves room for a policy."""

_FINISH: Mapping[str, Finish] = {
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "token_limit": "length",
    "error": "length",  # during an answer
    "content_filter": "refusal",
    "refusal": "refusal",
    "safety": "refusal",
}


class ServerFaultError(Exception):
    """An error in a response of status 200, with the attributes of the SDKs' errors.

    Args:
        body: The error as received.
    """

    def __init__(self, body: Any) -> None:
        inner = plain(body)
        error = inner.get("error", inner) if isinstance(inner, dict) else inner
        code = error.get("code", error.get("status")) if isinstance(error, dict) else None
        self.body = inner
        self.status_code = code if isinstance(code, int) and 400 <= code < 600 else _INTERNAL  # noqa: PLR2004
        super().__init__(server_message(inner) or "an error without a message")


def plain(value: Any) -> Any:
    """Convert objects of the SDKs, and namespaces, to dictionaries and lists."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "model_dump"):
        return value.model_dump(warnings=False)  # servers may send other types
    return plain(vars(value)) if hasattr(value, "__dict__") else value


def server_message(body: Any) -> str:
    """Return the message in the body of an error, in any of the usual forms; empty if there is none."""
    if isinstance(body, str):
        return body
    if isinstance(body, list):
        return "; ".join(filter(None, map(server_message, body)))
    if not isinstance(body, dict):
        return ""
    inner = (body.get(name) for name in ("error", "message", "detail", "msg", "errors"))
    text, place = next(filter(None, map(server_message, inner)), ""), body.get("loc")
    return f"{place[-1]}: {text}" if text and isinstance(place, list) and place else text


def own_words(error: Any) -> str:
    """Return the server's message in an error; the SDK's message if there is none."""
    return server_message(getattr(error, "body", None)) or str(error)


def refuses_system(error: Any) -> bool:
    """Return whether an error says that the model's chat template has no system prompt."""
    status = getattr(error, "status_code", None)
    return status in (*REFUSES, _INTERNAL) and bool(_NO_SYSTEM.search(own_words(error)))


def system_in_first_turn(request: Request) -> Request:
    """Move the system prompt of a request to the beginning of its first turn."""
    first, *others = request.messages
    first = replace(first, content=f"{request.system}\n\n{first.content}")
    return replace(request, system="", messages=(first, *others))


def lacks_route(error: Any) -> bool:
    """Return whether an error says that the server has no such endpoint."""
    return bool(_NO_ROUTE.search(own_words(error)))


class TokenLimit(NamedTuple):
    """A token limit that a server names.

    Attributes:
        tokens: Limit for the answer.
        lasting: Whether it holds for all prompts, whatever their length.
    """

    tokens: int
    lasting: bool


def refuses_limit(error: Any) -> bool:
    """Return whether a request was refused because of its token limit."""
    return getattr(error, "status_code", None) in REFUSES and bool(_LIMIT.search(own_words(error)))


def find_token_limit(error: Any, limit: int) -> TokenLimit | None:
    """Return the token limit that a refusal names; None if there is none or it leaves no room for a policy.

    Args:
        error: The SDK's exception.
        limit: The requested limit.
    """
    if not refuses_limit(error):
        return None
    message = own_words(error)
    context = _CONTEXT.search(message)
    if context:
        prompt = _PROMPT.search(message)
        used = int((prompt[1] or prompt[2]).replace(",", "")) if prompt else 0
        room = int(context[1].replace(",", "")) - used
        return TokenLimit(room, lasting=False) if used and MIN_TOKENS <= room < limit else None
    named = [int(number.replace(",", "")) for number in _NUMBER.findall(message)]
    below = [number for number in named if MIN_TOKENS <= number < limit]
    return TokenLimit(max(below), lasting=True) if below else None


def writes_text(model: Any) -> bool:
    """Return whether a model in a server's list generates text, judging by its name and type."""
    facts = [str(getattr(model, name, "")) for name in ("id", "type", "mode", "task")]
    return not any(map(_NO_TEXT.search, facts))


# Forms of answers


class Pieces(NamedTuple):
    """Contents of a message or delta.

    Attributes:
        text: Text of the answer.
        reasoning: Text sent as reasoning.
        called: Arguments of tool calls, although no tools were offered.
    """

    text: str = ""
    reasoning: str = ""
    called: str = ""


def pieces_of(message: Any) -> Pieces:
    """Return the text, reasoning and tool calls of a message or delta, from any of the usual fields."""
    message = plain(message)
    text, thought = _content(message.get("content"))
    for name in ("reasoning_content", "reasoning", "thinking", "reasoning_details"):
        if not thought:
            inner = _content(message.get(name))
            thought = inner[0] + inner[1]
    calls = [(call or {}).get("function") or {} for call in message.get("tool_calls") or ()]
    called = "".join(str(call.get("arguments") or "") for call in calls)
    return Pieces(text or str(message.get("refusal") or ""), thought, called)


def _content(content: Any) -> tuple[str, str]:
    """Return the text and reasoning of a content field, which is a string or a list of parts."""
    if content is None or isinstance(content, str):
        return content or "", ""
    parts: Sequence[Any] = content if isinstance(content, list) else [content]
    text, thought = "", ""
    for part in parts:
        if isinstance(part, str):
            text += part
        elif isinstance(part, dict):
            kind = str(part.get("type", "text"))
            inner = [part.get(name) for name in ("text", "content", "thinking", "summary", "refusal")]
            words = "".join("".join(_content(value)) for value in inner if value is not None)
            if "think" in kind or "reason" in kind:
                thought += words
            else:
                text += words
    return text, thought


def message_of(choice: Any) -> Any:
    """Return the message or delta of a choice; older servers put the text into the choice itself.

    Raises:
        LookupError: There is none.
    """
    for name in ("delta", "message"):
        message = getattr(choice, name, None)
        if message is not None and plain(message):
            return message
    if isinstance(text := getattr(choice, "text", None), str):
        return {"content": text}
    if getattr(choice, "finish_reason", None) or getattr(choice, "delta", None) is not None:
        return {}
    raise LookupError("a choice without a message")


def finish_of(reason: Any) -> Finish:
    """Translate a server's finish reason; unknown ones count as "stop"."""
    return _FINISH.get(str(reason).lower(), "stop")


# Routes


def is_local(address: str | None) -> bool:
    """Return whether an address is this machine, which is reached without a proxy."""
    host = urlsplit(address or "").hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback or ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return f".{host}".endswith(".localhost")


def http_client(make: Any, address: str | None) -> Any:
    """Create an HTTP client for an address.

    Args:
        make: The SDK's client class.
        address: The server's address; None for the service itself.

    Raises:
        UsageError: The environment's proxies or certificates are not usable.
    """
    try:
        if not is_local(address):
            return make()
        # The SDK's own class always reads the environment's proxies.
        make = next(base for base in make.__mro__ if base.__name__ == "AsyncClient")
        # For HTTPS the environment may name certificates; for HTTP, loading any would take longer than a call.
        secure = urlsplit(address).scheme == "https"
        return make(
            mounts={"all://": None, "https://": None},
            trust_env=secure,
            verify=secure or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            follow_redirects=True,
        )
    except (ValueError, ImportError, OSError) as error:
        raise UsageError(_explain_route(error)) from None


def _explain_route(error: Exception) -> str:
    """Return a sentence that names the variables that may be at fault."""
    fix = "write socks5://HOST:PORT and install httpx2[socks], write http://HOST:PORT, or unset it"
    of_files = isinstance(error, OSError)
    if of_files:
        fix = "name a file of certificates that can be read, or unset it"
    names = CERTIFICATES if of_files else PROXIES
    given = sorted(item for item in os.environ.items() if item[0].upper() in names and item[1])
    shown = clean_name(" and ".join(f"{name}={re.sub(r'//[^/@]*@', '//', value)}" for name, value in given))
    return f"{shown or 'the environment'} cannot be used for requests ({clean_name(str(error))}); {fix}."
