"""Selection of an engine by ``--engine``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from promptpo.errors import UsageError
from promptpo.llm.choose import make_llm
from promptpo_baselines.icpi.assembly import stream
from promptpo_baselines.icpi.engines.oracle import OracleEngine
from promptpo_baselines.icpi.engines.paid import PaidEngine
from promptpo_baselines.icpi.engines.text import EmbeddedText, TextLLM

if TYPE_CHECKING:
    from promptpo.llm.base import LLM
    from promptpo_baselines.icpi.engines.base import Engine
    from promptpo_baselines.icpi.setting import Setting
    from promptpo_baselines.same_run import AskingRun

EMBEDDED = "smollm2"
HELP = (
    "oracle (knows the rules; icpi only), completion:MODEL (OpenAI's, or a server with --base-url), llamacpp:MODEL (a "
    "server of llama.cpp), embedded:smollm2 (a small real model), or any chat model as "
    "promptpo writes it: openai:MODEL, anthropic:MODEL, exec:COMMAND, inbox:DIR (by hand)."
)


@contextlib.contextmanager
def open_engine(
    name: str, setting: Setting | None, run: AskingRun, base_url: str | None = None, seed: int = 0
) -> Iterator[Engine]:
    """Open the engine with this name, see `select_engine`, under the budget of a run, which keeps paid completions."""
    found = select_engine(name, setting, base_url, seed)
    engine = found if isinstance(found, OracleEngine) else PaidEngine(found, run.ledger, run.journal)
    with contextlib.closing(engine):
        yield engine


def select_engine(
    name: str, setting: Setting | None, base_url: str | None = None, seed: int = 0
) -> OracleEngine | LLM:
    """Return the engine or model with this name; nothing is started or requested before the first completion.

    Args:
        name: The value of ``--engine``; see `HELP`.
        setting: The setting that questions will be about; None outside of ICPI.
        base_url: Address of a server.
        seed: Seed of engines that draw.

    Raises:
        UsageError: There is no such engine, or it cannot be used here.
        MissingExtraError: A package that it needs is not installed.
        MissingKeyError: It needs a key.
    """
    provider, _, argument = (part.strip() for part in name.partition(":"))
    if name == OracleEngine.name:
        if base_url:
            raise UsageError(f"--base-url needs an engine that uses a server, not {name}.")
        if setting is None or setting.domain is None:
            raise UsageError("the oracle knows the rules of ICPI's own domains only.")
        return OracleEngine(setting.domain, setting.codec, stream(seed, "engine"))
    if provider == "embedded":
        return EmbeddedText(argument or EMBEDDED)
    if provider in ("completion", "llamacpp"):
        if not argument:
            raise UsageError(f"{provider} needs the name of a model: write {provider}:MODEL.")
        if base_url is None and provider == "llamacpp":
            raise UsageError(f"{provider}:{argument} needs --base-url, the server's address ending in /v1.")
        return TextLLM(argument, base_url=base_url, llamacpp=provider == "llamacpp")
    try:
        return make_llm(name, base_url=base_url)
    except UsageError as error:
        raise UsageError(f"--engine {name}: {error} ICPI's engines are: {HELP}") from error
