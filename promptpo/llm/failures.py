"""Explain the SDKs' exceptions in one sentence each, and validate API keys.

The exception classes of both SDKs have the same names, since the same tool generates them; this module relies on
those names alone.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from promptpo.errors import FatalProviderError, MissingKeyError, ProviderError
from promptpo.llm.compatible import REFUSES, ServerFaultError, lacks_route, own_words, refuses_limit
from promptpo.llm.credentials import hide_credentials
from promptpo_sandbox.text import clean_name

if TYPE_CHECKING:
    from collections.abc import Sequence

PLACEHOLDER_KEY = "no-key"
"""Sent to the user's own server, whose protocol requires a key although the server does not."""

SAMPLING_SETTINGS = frozenset({"temperature", "logprobs", "top_logprobs"})
"""Settings that many models refuse or restrict to one value; a run can go without them."""

_NO_MONEY = re.compile(
    r"insufficient_quota|credit balance|billing|exceeded your current quota|spend limit|budget.{0,20}exceeded",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"context.{0,20}(length|size|window)|prompt is too long|longer than the max|maximum context|too many tokens",
    re.IGNORECASE,
)
_UNSUPPORTED = re.compile(
    r"unsupported|not supported|does not support|unknown|unrecogni[sz]ed|not permitted|not allowed|unexpected"
    r"|deprecated|only the default|may only be set",
    re.IGNORECASE,
)
_FORBIDDEN = 403
"""Status with which OpenAI refuses log-probabilities for reasoning models; otherwise it means a wrong key."""
_ALSO_CALLED = {
    "reasoning_effort": "reasoning_effort|reasoning|effort|thinking",
    "reasoning": "reasoning|effort",
    "output_config": "output_config|effort",
    "thinking": "thinking|adaptive",
}
"""Regular expressions of the names under which services refer to a setting."""
_TAG = re.compile(r"(?s)<(style|script).*?</\1>|<[^<>]*>")
_HEADER = re.compile(r"\b(?P<scheme>Basic|Bearer) +[^\s\"',;]+", re.IGNORECASE)
"""Authorization headers that a server echoes."""

SHORTEST_SECRET = 12
"""Length from which a key is masked even inside a longer word."""

_EXCERPT = 200
"""Characters of a server's message shown in an error."""

_SENTENCES = {
    "slow": "{service.address} did not answer within {service.timeout:g} s.",
    "connection": "cannot reach {service.address} ({cause}); check the network, start the server, or correct --base-url.",
    "key": "{service.address} refused the key in {service.key_variable}; set it to a valid one ({cause}).",
    "keyless": "{service.address} requires a key; set {service.key_variable}.",
    "money": "the account of {service.key_variable} has no credit or quota left; top it up ({cause}).",
    "forbidden": "the key in {service.key_variable} may not use {service.model} ({cause}).",
    "unknown": "{service.address} does not know the model {service.model!r} ({cause}); name another with --model (servers list theirs at "
    "/models), or correct --base-url.",
    "long": "prompt and answer do not fit into the context of {service.model}; lower --max-prompt-tokens or "
    "--max-output-tokens, both accepted by promptpo resume ({cause}).",
    "limit": "{service.model} allows fewer tokens in one answer than were requested; lower --max-output-tokens, also for "
    "promptpo resume ({cause}).",
    "rate": "the rate limit of {service.model} is reached ({cause}); wait, or request fewer candidates at once.",
    "fault": "{service.address} reported an error in place of an answer ({cause}).",
    "route": "{service.address} has no such endpoint ({cause}); correct --base-url, which for openai usually ends in /v1.",
    "failed": "{service.address} failed with status {status} ({cause}).",
    "rejected": "{service.address} rejected the request with status {status}: {cause}",
    "other": "{service.address} sent something that is not an answer ({cause}); check --base-url, which for openai "
    "usually ends in /v1.",
}
_FATAL = frozenset({"key", "keyless", "money", "forbidden", "unknown", "route"})
_PASSING = frozenset({"slow", "connection", "rate", "fault", "failed"})
_PASSING_STATUS = frozenset({408, 409, 425})
_BY_NAME = {"APITimeoutError": "slow", "APIConnectionError": "connection"}
_BY_STATUS = {401: "key", 402: "money", 403: "forbidden", 404: "unknown", 413: "long", 429: "rate"}


def read_key(variable: str, *, provider: str, optional: bool) -> str:
    """Return the API key in an environment variable.

    Args:
        variable: The name of the variable.
        provider: The provider as in ``--model``.
        optional: Whether the server is the user's own, which may need no key.

    Raises:
        MissingKeyError: There is no key, or the value cannot be one.
    """
    key = os.environ.get(variable, "").strip()
    if not key:
        if optional:
            return PLACEHOLDER_KEY
        raise MissingKeyError(
            f"{provider} needs a key: set {variable}, or give --base-url for a server that needs none, "
            f"or choose --model search (no language model)."
        )
    if not (key.isascii() and key.isprintable() and " " not in key):
        # A client would show such a value in its error message.
        raise MissingKeyError(
            f"the value of {variable} is not a key: it has spaces or unprintable characters."
        )
    return key


def public_address(url: str) -> str:
    """Return an address for display, without user name, password and query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


_REFUSES_PICTURES = frozenset({400, 404, 415, 422, 500, 501})
_PICTURES = re.compile(
    r"image|vision|multi-?modal|mmproj|content\W.{0,60}\b(?:string|str|text)\b", re.IGNORECASE | re.DOTALL
)


def find_refused_setting(error: Any, settings: Sequence[str]) -> str | None:
    """Return the setting that the model does not accept, according to an error; None if it names none.

    A sampling setting is dropped whatever is wrong with it. The token limit counts only if its name is refused; one
    that is too large is for the user to lower.

    Args:
        error: The SDK's exception.
        settings: Names of the settings that can be omitted.
    """
    text = f"{getattr(error, 'param', '')} {error} {error.body}"
    status = getattr(error, "status_code", None)
    if status not in REFUSES and not (status == _FORBIDDEN and "logprobs" in text):
        return None
    named = [
        (found.start(), name)
        for name in settings
        if (found := re.search(rf"\b(?:{_ALSO_CALLED.get(name, name)})\b", text))
    ]
    if not named:
        return None
    first = min(named)[1]
    return first if first in SAMPLING_SETTINGS or _UNSUPPORTED.search(text) else None


def refuses_images(error: Any) -> bool:
    """Return whether an error says that the service does not accept a request's images."""
    text = f"{error} {getattr(error, 'body', '')}"
    return getattr(error, "status_code", None) in _REFUSES_PICTURES and bool(_PICTURES.search(text))


def explain(error: Any, service: Any, key: str) -> ProviderError:
    """Turn an exception into an error of one sentence that says what happened and what to do.

    Args:
        error: An ``APIError`` of the SDK, or an exception raised while reading a response.
        service: The provider.
        key: The key, to mask it in the server's message.

    Returns:
        The error to raise; a `FatalProviderError` if later calls would fail as well.
    """
    kind, status = _kind(error), getattr(error, "status_code", None)
    cause = own_words(error) if status else str(getattr(error, "__cause__", None) or error)
    if kind == "key" and key == PLACEHOLDER_KEY:
        kind = "keyless"
    sentence = _SENTENCES[kind].format(service=service, cause=_excerpt(cause, key), status=status)
    return (FatalProviderError if kind in _FATAL else ProviderError)(f"{service.provider}: {sentence}")


def _kind(error: Any) -> str:
    """Return the key in `_SENTENCES` that fits an error."""
    status = getattr(error, "status_code", None)
    if status is None:
        return next(
            (_BY_NAME[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in _BY_NAME), "other"
        )
    if lacks_route(error):
        return "route"
    text = f"{error} {error.body}"
    if status in {400, 403, 429} and _NO_MONEY.search(text):
        return "money"
    if (status in REFUSES or isinstance(error, ServerFaultError)) and _TOO_LONG.search(text):
        return "long"
    if refuses_limit(error):
        return "limit"
    if status < 500:  # noqa: PLR2004 - HTTP's own limit
        return _BY_STATUS.get(status, "rejected")
    return "fault" if isinstance(error, ServerFaultError) else "failed"


def may_pass(error: Any, tries: int) -> bool:
    """Return whether an error may be temporary; a request that timed out is retried only once."""
    kind = _kind(error)
    passing = kind in _PASSING or getattr(error, "status_code", None) in _PASSING_STATUS
    return passing and not (kind == "slow" and tries)


def retry_after(error: Any) -> float:
    """Return the seconds that a service asks to wait before a retry; 0 if it does not say."""
    try:
        return max(0.0, float(error.response.headers["retry-after"]))
    except (AttributeError, KeyError, ValueError):  # no response, no such header, a date
        return 0.0


def fault_in(error: Any) -> Any:
    """Convert an SDK's error without a status, as reported within a stream, to a `ServerFaultError`; return others unchanged."""
    body = getattr(error, "body", None)
    return ServerFaultError(body) if type(error).__name__ == "APIError" and body else error


def _excerpt(text: str, key: str) -> str:
    """Return a text as one line of bounded length, with the key masked."""
    text = _TAG.sub(" ", text) if "</" in text else text  # the HTML page of a proxy
    around = (
        "" if len(key) >= SHORTEST_SECRET else r"\b"
    )  # a short key such as "ollama" may be part of other words
    line = clean_name(re.sub(f"{around}{re.escape(key)}{around}", "***", text))
    line = hide_credentials(_HEADER.sub(r"\g<scheme> ***", line))
    return line if len(line) <= _EXCERPT else line[: _EXCERPT - 1] + "…"
