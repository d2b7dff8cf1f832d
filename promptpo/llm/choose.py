"""Choose and create the provider that ``--model`` names, or a default."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from promptpo.errors import PromptPOError, UsageError, suggest
from promptpo.llm.base import Ensemble, members_of
from promptpo.llm.prices import Price, price_in, user_prices
from promptpo_sandbox.text import clean_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from promptpo.llm.base import LLM, Completion

MODEL_VARIABLE = "PROMPTPO_MODEL"

SEARCH = "search"
"""Name of program search, which writes policies without a language model; the caller creates it."""

DEFAULT_MODELS: Mapping[str, str] = {
    "anthropic": "claude-sonnet-5-5",
    "openai": "gpt-6.1-sol",
    "embedded": "smollm2",
}
"""Model of a provider named alone; overridden by PROMPTPO_ANTHROPIC_MODEL and the like."""

KEY_VARIABLES: Mapping[str, str] = {"ANTHROPIC_API_KEY": "anthropic", "OPENAI_API_KEY": "openai"}
"""Variables checked in this order if no model is named."""

ENTRY_POINTS = "promptpo.providers"
"""Entry-point group of installed packages; an entry called with the argument after ``NAME:`` returns a provider, or a
function from prompt to answer."""

ADDRESSED = frozenset(KEY_VARIABLES.values())
"""Providers that accept ``--base-url``."""

LOCAL_SERVERS: Mapping[str, str] = {
    "ollama": "http://localhost:11434/v1",
    "lmstudio": "http://localhost:1234/v1",
    "llamacpp": "http://localhost:8080/v1",
    "vllm": "http://localhost:8000/v1",
}
"""Default addresses of servers with OpenAI's format; OLLAMA_HOST overrides Ollama's."""

_OLLAMA_HOST = re.compile(r"(?:(https?)://)?(\[[\da-fA-F:.]+\]|[^\s/:\[\]]*)(?::(\d{1,5}))?/?")
_OLLAMA_PORTS = {None: 11434, "http": 80, "https": 443}
"""Port by scheme if none is given, as Ollama's own programs read it."""

_OF_A_SERVICE = {
    "anthropic": re.compile(r"claude-\S+"),
    "openai": re.compile(r"(?:gpt-|chatgpt-|o\d(?:-|$)|codex-)\S*"),
}
"""Patterns of model names that identify a service."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A chosen provider and its argument.

    Attributes:
        provider: One of `PROVIDERS`, or `SEARCH`.
        argument: Model, command or path; empty for "search".
        reason: The reason for the choice, for `describe_choice`.
        server: The key in `LOCAL_SERVERS` that named it; else empty.
    """

    provider: str
    argument: str
    reason: str
    server: str = ""

    @property
    def name(self) -> str:
        """Its name as for ``--model``."""
        provider = self.server or self.provider
        return f"{provider}:{self.argument}" if self.argument else provider

    @property
    def address(self) -> str | None:
        """The address of its local server; None if it names none.

        Raises:
            UsageError: ``OLLAMA_HOST`` is not an address.
        """
        given = os.environ.get("OLLAMA_HOST", "").strip() if self.server == "ollama" else ""
        if not given:
            return LOCAL_SERVERS.get(self.server)
        found = _OLLAMA_HOST.fullmatch(given)
        if found is None:
            raise UsageError(f"OLLAMA_HOST={given} is not an address; write it like 127.0.0.1:11434.")
        scheme, host, port = found.groups()
        host = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]", "": "127.0.0.1"}.get(host, host)  # noqa: S104
        return f"{scheme or 'http'}://{host}:{port or _OLLAMA_PORTS[scheme]}/v1"


def choose(name: str | None = None) -> Choice:
    """Choose the provider that a name means.

    Args:
        name: ``provider:MODEL``, a bare ``provider``, or a model of OpenAI or Anthropic. If None, ``PROMPTPO_MODEL``
            decides, then the service whose key is set; the last resort is program search.

    Raises:
        UsageError: There is no such provider, or it needs an argument.
    """
    if name:
        return _parse(name, "as requested")
    if named := os.environ.get(MODEL_VARIABLE, "").strip():
        return _parse(named, f"from {MODEL_VARIABLE}")
    for variable, provider in KEY_VARIABLES.items():
        if os.environ.get(variable, "").strip():
            return _parse(provider, f"because {variable} is set")
    return Choice(SEARCH, "", f"because neither {' nor '.join(KEY_VARIABLES)} is set")


def describe_choice(name: str | None, llm: LLM) -> str:
    """Describe in one line the provider, the reason for it, and, unless the user named it, how to choose another.

    Args:
        name: The name passed to `make_llm`.
        llm: The provider it returned.
    """
    named = clean_name(llm.name)
    if isinstance(llm, Ensemble):
        return f"models: {named}"
    what = named if llm.capabilities.language_model else f"{named} (program search, no language model)"
    if named.startswith("inbox:"):
        return f"model: {what}; list open requests with: promptpo inbox {named.removeprefix('inbox:')}"
    line = f"model: {what}, {choose(name).reason}"
    other = (
        "search (no language model)" if llm.capabilities.language_model else "anthropic:MODEL or openai:MODEL"
    )
    return line if name is not None else f"{line}; choose another with --model, for example {other}"


def make_llm(
    name: str | None = None,
    *,
    base_url: str | None = None,
    answered: Sequence[Completion] = (),
    run: str = "",
    price: tuple[float, float] | None = None,
    search: Callable[[], LLM] | None = None,
    asked: bool = True,
) -> LLM:
    """Create the provider that a name means.

    Args:
        name: As for `choose`.
        base_url: Address of an OpenAI- or Anthropic-compatible server.
        answered: Answers that earlier processes of the same run have used, to continue a replay.
        run: Identifies this run among others with the same inbox, for example its directory.
        price: The user's price in US dollars per million input and output tokens.
        search: Creates program search; None if a language model is required.
        asked: Whether it will receive requests; if not, a service needs no key.

    Raises:
        UsageError: There is no such provider, or its argument or address is not usable.
        MissingKeyError: A required API key is missing.
        MissingExtraError: A required package is not installed.
    """
    choice = choose(name)
    if base_url and choice.provider not in ADDRESSED:
        raise UsageError(
            f"--base-url needs --model openai:NAME or anthropic:NAME, not {choice.name}; the server lists its names at {base_url.rstrip('/')}/models."
        )
    base_url = base_url or choice.address
    if base_url:
        _check_address(base_url)
    if choice.provider == SEARCH:
        if search is None:
            raise UsageError("this needs a language model; name one with --model.")
        return search()
    given = {
        "base_url": base_url,
        "answered": answered,
        "run": run,
        "price": Price(*price) if price else price_in(user_prices(), choice.name),
        "asked": asked,
    }
    if choice.provider not in PROVIDERS:
        return _make_installed(choice)
    place, takes = PROVIDERS[choice.provider]
    module, _, kind = place.partition(":")
    made = getattr(import_module(f"promptpo.llm.{module}"), kind)
    llm: LLM = made(choice.argument, **{option: given[option] for option in takes.split()})
    if choice.server:
        llm.name = choice.name
    return llm


def _make_installed(choice: Choice) -> LLM:
    """Create a provider of another package.

    Raises:
        UsageError: It cannot be imported or created.
    """
    from promptpo.llm.function import as_llm

    entry = find_providers()[choice.provider]
    try:
        return as_llm(entry.load()(choice.argument), choice.name)
    except PromptPOError:
        raise
    except Exception as error:
        raise UsageError(f"{choice.name}: {entry.value} raised {type(error).__name__}: {error}.") from error


def find_providers() -> dict[str, metadata.EntryPoint]:
    """Return the entry points of other packages' providers, by name."""
    return {entry.name: entry for entry in metadata.entry_points(group=ENTRY_POINTS)}


def _check_address(base_url: str) -> None:
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise UsageError(f"--base-url {base_url} is not an address; write it like http://127.0.0.1:8080/v1.")


def _parse(name: str, reason: str) -> Choice:
    provider, _, argument = (part.strip() for part in name.strip().partition(":"))
    if provider in LOCAL_SERVERS and not argument:
        raise UsageError(f"{provider} needs the name of a model: write {provider}:NAME.")
    for service, names in _OF_A_SERVICE.items():
        if names.fullmatch(name.strip()):
            return Choice(service, name.strip(), reason)
    if provider in LOCAL_SERVERS:
        return Choice("openai", argument, reason, provider)
    if provider not in (*PROVIDERS, SEARCH) and provider not in (installed := find_providers()):
        known = (*PROVIDERS, SEARCH, *installed)
        hint = suggest(provider, known)
        raise UsageError(
            f"there is no provider {clean_name(provider)!r}{f'; {hint}' if hint else '.'} A model is written provider:MODEL, and the providers "
            f"are: {', '.join(known)}. For a model of another server that speaks OpenAI's format, write openai:NAME with "
            f"--base-url, or {', '.join(f'{server}:NAME' for server in LOCAL_SERVERS)}."
        )
    if not argument and provider in DEFAULT_MODELS:
        argument = (
            os.environ.get(f"PROMPTPO_{provider.upper()}_MODEL", "").strip() or DEFAULT_MODELS[provider]
        )
    if not argument and provider in ARGUMENTS:
        raise UsageError(f"{provider} needs an argument: write {provider}:{ARGUMENTS[provider]}.")
    if argument != clean_name(argument) and provider in DEFAULT_MODELS:
        raise UsageError(
            f"{clean_name(argument)} is not the name of a model: it has control characters or runs of spaces."
        )
    if argument and provider == SEARCH:
        raise UsageError("search takes no model; write --model search.")
    return Choice(provider, argument, reason)


PROVIDERS: Mapping[str, tuple[str, str]] = {
    "anthropic": ("anthropic:AnthropicLLM", "base_url price asked"),
    "openai": ("openai:OpenAILLM", "base_url price asked"),
    "exec": ("command:CommandLLM", "price"),
    "inbox": ("inbox:InboxLLM", "run price"),
    "replay": ("replay:ReplayLLM", "answered"),
    "embedded": ("embedded:EmbeddedLLM", ""),
}
"""Module and class of each provider, and its options besides the argument."""

ARGUMENTS: Mapping[str, str] = {"exec": "COMMAND", "inbox": "DIR", "replay": "RUN_OR_FILE"}
"""Providers that require an argument, and its placeholder."""


def make_models(
    model: str | None,
    models: Sequence[str] = (),
    *,
    repair_model: str | None = None,
    base_url: str | None = None,
    price: tuple[float, float] | None = None,
    search: Callable[[], LLM] | None = None,
    **options: Any,
) -> LLM:
    """Create the provider for one model, or an ensemble for several.

    Args:
        model: As for `choose`, if one model writes policies.
        models: The models that write policies, if there are several.
        repair_model: The model that repairs policies; None for the one that wrote the policy.
        base_url: Address of a compatible server, for all models that accept one.
        price: US dollars per million input and output tokens of a single model.
        search: Creates program search.
        **options: For `make_llm`.

    Raises:
        UsageError: A model is not usable as given.
        MissingKeyError: A required API key is missing.
        MissingExtraError: A required package is not installed.
    """
    if not models and repair_model is None:
        return make_llm(model, base_url=base_url, price=price, search=search, **options)
    if price is not None:
        raise UsageError(
            "--price is for a single model; for several, name a file with the price of each in PROMPTPO_PRICES."
        )
    writers = [*models] or [choose(model).name]
    names = [choose(name) for name in (*writers, *filter(None, [repair_model]))]
    addressed = [spelling for spelling in names if spelling.provider in ADDRESSED] or names
    made = [
        make_llm(spelling.name, base_url=base_url if spelling in addressed else None, **options)
        for spelling in names
    ]
    from promptpo.llm.ensemble import EnsembleLLM

    return EnsembleLLM(made[: len(writers)], repairer=made[-1] if repair_model else None)


def split_models(model: str | Sequence[str] | None) -> tuple[Any, Any]:
    """Split a user's model or models into the settings `model` and `models`."""
    if isinstance(model, str) or not isinstance(model, Sequence):
        return model, ()
    if len(model) == 1 and isinstance(model[0], str):
        return model[0], ()
    return None, tuple(model)


def public_name(llm: LLM) -> str:
    """Return a provider's name for published files."""
    return " + ".join(public(member.name) for member in members_of(llm))


def public(name: str) -> str:
    """Return a model's name without local paths and command arguments."""
    kind, _, rest = name.partition(":")
    if kind == "exec":
        rest = next(iter(rest.split()), "").strip("'\"")
    return f"{kind}:{PurePath(rest).name}" if kind in {"exec", "replay", "inbox"} else name
