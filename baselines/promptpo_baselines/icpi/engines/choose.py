"""From what ``--engine`` says to an engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptpo.errors import UsageError
from promptpo.run.config import Budget
from promptpo.run.ledger import Ledger
from promptpo_baselines.icpi.assembly import stream
from promptpo_baselines.icpi.engines.oracle import OracleEngine
from promptpo_baselines.icpi.engines.paid import PaidEngine

if TYPE_CHECKING:
    from collections.abc import Callable

    from promptpo.run.journal import Journal
    from promptpo_baselines.icpi.engines.base import Engine
    from promptpo_baselines.icpi.engines.paid import Completer
    from promptpo_baselines.icpi.examples import Measure
    from promptpo_baselines.icpi.setting import Setting

FREE_ENGINE = "oracle"
RAW_ENGINES = ("completion", "llamacpp", "embedded")
EMBEDDED = "smollm2"
HELP = (
    "oracle (knows the rules), completion:MODEL (OpenAI's, or a server with --base-url), llamacpp:MODEL (a server of "
    "llama.cpp), embedded:smollm2 (a small real model), or any chat model as "
    "promptpo writes it: openai:MODEL, anthropic:MODEL, exec:COMMAND."
)


@dataclass(frozen=True)
class ChosenEngine:
    """An engine and what goes with it.

    Attributes:
        engine: Completes prompts.
        measure: Counts tokens as the engine does; None where nothing counts them.
        close: Ends what was started for it.
    """

    engine: Engine
    measure: Measure | None
    close: Callable[[], None]


def is_paid(name: str) -> bool:
    """Whether an engine's answers cost time or money."""
    return name != FREE_ENGINE


def choose_engine(
    name: str,
    setting: Setting | None,
    *,
    seed: int = 0,
    base_url: str | None = None,
    ledger: Ledger | None = None,
    journal: Journal | None = None,
) -> ChosenEngine:
    """The engine that a name means; see `HELP`.

    Args:
        name: As ``--engine`` says it.
        setting: What it will be asked about; None where it is asked for anything but ICPI.
        seed: For engines that draw.
        base_url: Address of a server.
        ledger: Budgets; None means no limits.
        journal: Where paid completions are kept; None keeps none.

    Raises:
        UsageError: There is no such engine, or it cannot be used here.
        MissingExtraError: A package that it needs is not installed.
        ProviderError: Its server does not start.
    """
    if not is_paid(name):
        free = _free(setting, seed, base_url)
        return ChosenEngine(free, None, free.close)
    completer, measure, stop = _completer(name, base_url)
    engine = PaidEngine(completer, ledger or Ledger(Budget(steps=None)), journal)

    def close() -> None:
        engine.close()
        stop()

    return ChosenEngine(engine, measure, close)


def check_engine(name: str, setting: Setting | None, base_url: str | None = None) -> None:
    """Refuse what `choose_engine` would refuse, before anything is written, started or paid.

    Raises:
        UsageError: There is no such engine, or it cannot be used here.
        MissingExtraError: A package that it needs is not installed.
        MissingKeyError: It needs a key.
    """
    if not is_paid(name):
        _free(setting, 0, base_url)
    elif not name.startswith("embedded"):
        _completer(name, base_url)
    else:
        from promptpo.llm.embedded import LocalServer

        LocalServer(_argument(name) or EMBEDDED)


def _argument(name: str) -> str:
    return name.partition(":")[2].strip()


def _free(setting: Setting | None, seed: int, base_url: str | None) -> Engine:
    if base_url:
        raise UsageError(f"--base-url needs an engine that asks a server, not {FREE_ENGINE}.")
    if setting is None or setting.domain is None:
        other = f", not those of {setting.env_id}" if setting else ""
        raise UsageError(f"the oracle knows the rules of ICPI's own domains only{other}.")
    return OracleEngine(setting.domain, setting.codec, stream(seed, "engine"))


def _completer(name: str, base_url: str | None) -> tuple[Completer, Measure | None, Callable[[], None]]:
    provider, argument = name.partition(":")[0].strip(), _argument(name)
    if provider not in RAW_ENGINES:
        return _chat(f"{provider}:{argument}" if argument else provider, base_url), None, lambda: None
    from promptpo_baselines.icpi.engines.server import CompletionServer, tokenizer

    if provider == "embedded":
        from promptpo.llm.embedded import PARALLEL, LocalServer

        model = argument or EMBEDDED
        server = LocalServer(model)
        address = f"{server.start()}/v1"
        local = CompletionServer(model, base_url=address, llamacpp=True, concurrency=PARALLEL)
        local.name = f"embedded:{model}"  # the same in every run, unlike its address
        return local, tokenizer(address), server.stop
    if not argument:
        raise UsageError(f"{provider} needs to know which model: write {provider}:MODEL.")
    if base_url is None and provider != "completion":
        raise UsageError(f"{provider}:{argument} needs --base-url, the server's address ending in /v1.")
    remote = CompletionServer(argument, base_url=base_url, llamacpp=provider == "llamacpp")
    count = tokenizer(base_url) if provider == "llamacpp" and base_url else None
    return remote, count, lambda: None


def _chat(name: str, base_url: str | None) -> Completer:
    from promptpo.llm import make_llm
    from promptpo_baselines.icpi.engines.chat import ChatCompleter

    try:
        llm = make_llm(name, base_url=base_url)
    except UsageError as error:
        raise UsageError(f"--engine {name}: {error} ICPI's engines are: {HELP}") from error
    if not llm.language_model:
        raise UsageError(f"{name} is no language model, so it cannot complete ICPI's prompts; use: {HELP}")
    return ChatCompleter(llm)
