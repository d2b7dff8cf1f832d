"""Ways of compatible servers that OpenAI and Anthropic do not have: one place for refusals, forms of answers and routes.

Texts are recognised by what the servers' own sources say: chat templates (Gemma, Mistral, Llama), vLLM, SGLang, llama.cpp, text-generation-inference,
Ollama, LM Studio, OpenRouter, DeepSeek, Mistral, Groq.
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
"""Variables of certificates and of proxies, in capital letters or small ones."""

FEWEST_TOKENS = 256
"""A limit below this leaves no room for a policy."""

_FINISH: Mapping[str, Finish] = {
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "token_limit": "length",
    "error": "length",  # in the middle of an answer
    "content_filter": "refusal",
    "refusal": "refusal",
    "safety": "refusal",
}


class ServerFaultError(Exception):
    """An error that a server puts into a response of status 200, in the form of the SDKs' errors.

    Args:
        body: The error, as it came.
    """

    def __init__(self, body: Any) -> None:
        inner = plain(body)
        error = inner.get("error", inner) if isinstance(inner, dict) else inner
        code = error.get("code", error.get("status")) if isinstance(error, dict) else None
        self.body = inner
        self.status_code = code if isinstance(code, int) and 400 <= code < 600 else _INTERNAL  # noqa: PLR2004
        super().__init__(server_message(inner) or "an error without a message")


def plain(value: Any) -> Any:
    """Objects of the SDKs, and namespaces, as dictionaries and lists."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "model_dump"):
        return value.model_dump(warnings=False)  # servers send other types
    return plain(vars(value)) if hasattr(value, "__dict__") else value


def server_message(body: Any) -> str:
    """Read a server's own words in the body of an error, in whichever of the usual forms; empty where it says nothing."""
    if isinstance(body, str):
        return body
    if isinstance(body, list):
        return "; ".join(filter(None, map(server_message, body)))
    if not isinstance(body, dict):
        return ""
    inner = (body.get(name) for name in ("error", "message", "detail", "msg", "errors"))
    said, place = next(filter(None, map(server_message, inner)), ""), body.get("loc")
    return f"{place[-1]}: {said}" if said and isinstance(place, list) and place else said


def own_words(error: Any) -> str:
    """Read what a server says in an error; the SDK's words where it says nothing."""
    return server_message(getattr(error, "body", None)) or str(error)


def refuses_system(error: Any) -> bool:
    """Whether a model's chat template has no place for a system prompt."""
    status = getattr(error, "status_code", None)
    return status in (*REFUSES, _INTERNAL) and bool(_NO_SYSTEM.search(own_words(error)))


def system_in_first_turn(request: Request) -> Request:
    """The same request with the system prompt at the beginning of the first turn."""
    first, *others = request.messages
    first = replace(first, content=f"{request.system}\n\n{first.content}")
    return replace(request, system="", messages=(first, *others))


def lacks_route(error: Any) -> bool:
    """Whether there is nothing at the path that was asked, on a server that may be the right one."""
    return bool(_NO_ROUTE.search(own_words(error)))


class TokenLimit(NamedTuple):
    """A limit that a server names.

    Attributes:
        tokens: For the answer.
        lasting: Whether it holds for all prompts, long and short ones.
    """

    tokens: int
    lasting: bool


def refuses_limit(error: Any) -> bool:
    """Whether a request is refused for its limit of tokens."""
    return getattr(error, "status_code", None) in REFUSES and bool(_LIMIT.search(own_words(error)))


def find_token_limit(error: Any, limit: int) -> TokenLimit | None:
    """The limit of tokens that a refusal names; None where there is none, or it leaves no room for a policy.

    Args:
        error: The SDK's exception.
        limit: What was asked for.
    """
    if not refuses_limit(error):
        return None
    said = own_words(error)
    context = _CONTEXT.search(said)
    if context:
        prompt = _PROMPT.search(said)
        used = int((prompt[1] or prompt[2]).replace(",", "")) if prompt else 0
        room = int(context[1].replace(",", "")) - used
        return TokenLimit(room, lasting=False) if used and FEWEST_TOKENS <= room < limit else None
    named = [int(number.replace(",", "")) for number in _NUMBER.findall(said)]
    below = [number for number in named if FEWEST_TOKENS <= number < limit]
    return TokenLimit(max(below), lasting=True) if below else None


def writes_text(model: Any) -> bool:
    """Whether a model of a server's list answers in text, by its name or by what the server says of its kind."""
    said = [str(getattr(model, name, "")) for name in ("id", "type", "mode", "task")]
    return not any(map(_NO_TEXT.search, said))


# Forms of answers


class Pieces(NamedTuple):
    """Contents of a message, or of a part of one.

    Attributes:
        text: Of the answer.
        reasoning: Text that came as reasoning.
        called: Arguments of tools, which nobody offered.
    """

    text: str = ""
    reasoning: str = ""
    called: str = ""


def pieces_of(message: Any) -> Pieces:
    """Text and reasoning of a message or of a delta, in whichever fields and parts they come."""
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
    """Text and reasoning of what stands as a content: a text, or parts."""
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
            said = "".join("".join(_content(value)) for value in inner if value is not None)
            if "think" in kind or "reason" in kind:
                thought += said
            else:
                text += said
    return text, thought


def message_of(choice: Any) -> Any:
    """The message or delta of a choice; older servers have its text in the choice itself.

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
    """Why an answer ended, by whatever name; a name that nobody knows is an ordinary end."""
    return _FINISH.get(str(reason).lower(), "stop")


# Routes


def is_local(address: str | None) -> bool:
    """Whether an address is this machine itself, which is reached past any proxy."""
    host = urlsplit(address or "").hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback or ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return f".{host}".endswith(".localhost")


def http_client(make: Any, address: str | None) -> Any:
    """An HTTP client for an address.

    Args:
        make: The SDK's class of such clients.
        address: Where requests go; None for the service itself.

    Raises:
        UsageError: What the environment says of proxies or certificates cannot be used.
    """
    try:
        if not is_local(address):
            return make()
        # The SDK's own class reads the environment's proxies whatever it is told.
        make = next(base for base in make.__mro__ if base.__name__ == "AsyncClient")
        # Certificates of one's own are named in the environment; reading all of them takes longer than a call.
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
    """One sentence that names the variables that may be at fault."""
    cure = "write socks5://HOST:PORT and install httpx2[socks], write http://HOST:PORT, or unset it"
    of_files = isinstance(error, OSError)
    if of_files:
        cure = "name a file of certificates that can be read, or unset it"
    names = CERTIFICATES if of_files else PROXIES
    given = sorted(item for item in os.environ.items() if item[0].upper() in names and item[1])
    said = clean_name(" and ".join(f"{name}={re.sub(r'//[^/@]*@', '//', value)}" for name, value in given))
    return f"{said or 'the environment'} cannot be used for requests ({clean_name(str(error))}); {cure}."
