"""From what ``--engine`` says to an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.errors import UsageError
from promptpo.llm import make_llm
from promptpo_baselines.icpi.assembly import stream
from promptpo_baselines.icpi.engines.oracle import OracleEngine
from promptpo_baselines.icpi.engines.paid import PaidEngine
from promptpo_baselines.icpi.engines.text import EmbeddedText, TextLLM

if TYPE_CHECKING:
    from promptpo.llm.base import LLM
    from promptpo_baselines.icpi.engines.base import Engine
    from promptpo_baselines.icpi.setting import Setting
    from promptpo_baselines.same_run import AskingRun

FREE_ENGINE = "oracle"
EMBEDDED = "smollm2"
HELP = (
    "oracle (knows the rules), completion:MODEL (OpenAI's, or a server with --base-url), llamacpp:MODEL (a server of "
    "llama.cpp), embedded:smollm2 (a small real model), or any chat model as "
    "promptpo writes it: openai:MODEL, anthropic:MODEL, exec:COMMAND."
)


def is_paid(name: str) -> bool:
    """Whether an engine's answers cost time or money."""
    return name != FREE_ENGINE


def choose_engine(
    name: str, setting: Setting | None, run: AskingRun, base_url: str | None = None, seed: int = 0
) -> Engine:
    """The engine that a name means; see `HELP`.

    Args:
        name: As ``--engine`` says it.
        setting: What it will be asked about; None where it is asked for anything but ICPI.
        run: Has the budgets, and keeps paid completions.
        base_url: Address of a server.
        seed: For engines that draw.

    Raises:
        UsageError: There is no such engine, or it cannot be used here.
        MissingExtraError: A package that it needs is not installed.
        MissingKeyError: It needs a key.
    """
    if is_paid(name):
        return PaidEngine(language_model(name, base_url), run.ledger, run.journal)
    return oracle(setting, base_url, seed)


def check_engine(name: str, setting: Setting | None, base_url: str | None = None) -> None:
    """Refuse what `choose_engine` would refuse, before anything is written, started or paid."""
    if is_paid(name):
        language_model(name, base_url)
    else:
        oracle(setting, base_url)


def oracle(setting: Setting | None, base_url: str | None = None, seed: int = 0) -> OracleEngine:
    """The engine that knows the rules.

    Raises:
        UsageError: It does not know those of this setting, or an address is given.
    """
    if base_url:
        raise UsageError(f"--base-url needs an engine that asks a server, not {FREE_ENGINE}.")
    if setting is None or setting.domain is None:
        other = f", not those of {setting.task.env_id}" if setting else ""
        raise UsageError(f"the oracle knows the rules of ICPI's own domains only{other}.")
    return OracleEngine(setting.domain, setting.codec, stream(seed, "engine"))


def language_model(name: str, base_url: str | None) -> LLM:
    """The language model that a name means; nothing is started or asked before its first request."""
    provider, _, argument = (part.strip() for part in name.partition(":"))
    if provider == "embedded":
        return EmbeddedText(argument or EMBEDDED)
    if provider in ("completion", "llamacpp"):
        if not argument:
            raise UsageError(f"{provider} needs to know which model: write {provider}:MODEL.")
        if base_url is None and provider == "llamacpp":
            raise UsageError(f"{provider}:{argument} needs --base-url, the server's address ending in /v1.")
        return TextLLM(argument, base_url=base_url, llamacpp=provider == "llamacpp")
    try:
        return make_llm(name, base_url=base_url)
    except UsageError as error:
        raise UsageError(f"--engine {name}: {error} ICPI's engines are: {HELP}") from error
