"""``promptpo spec --draft-spec``: a language model completes a thin spec; what can be verified is kept."""

from __future__ import annotations

from pathlib import Path

from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.llm import make_llm
from promptpo.llm.base import Message
from promptpo.program.identity import text_digest
from promptpo.run.config import Config
from promptpo.run.journal import Journal
from promptpo.run.ledger import Ledger
from promptpo.run.spender import Spender
from promptpo.run.threads import run_async
from promptpo.session import default_name
from promptpo.spec.draft import Draft, draft_spec
from promptpo.spec.levels import Reveal
from sandbox import Sandbox


def draft(task: Task, *, model: str | None, base_url: str | None, reveal: Reveal) -> tuple[Draft, Path]:
    """Draft a spec; returns it with the directory that keeps the answers.

    Answers are journaled before they are read, under the digest of what was asked and of whom: the same
    question is not asked twice, and another model, other arguments or another reveal are asked anew.

    Raises:
        UsageError: The chosen provider is program search, which cannot describe anything.
        ProviderError: The model cannot be reached.
    """
    llm = make_llm(model, base_url=base_url)
    if "spec" not in llm.purposes:
        raise UsageError(
            f"--draft-spec needs a language model, and {llm.name} is none; choose one with --model."
        )
    directory = Path("runs") / f"spec-{default_name(task)}"

    async def work() -> Draft:
        config = Config(task, model=llm.name)
        with Journal(directory) as journal, Sandbox() as box:
            ledger = Ledger(config.budget, journal.events)
            journal.listen(ledger.add)

            async def ask(key: str, *, system: str, prompt: str) -> str:
                spender = Spender(llm, None, config, journal, ledger)
                asked = text_digest(repr((llm.name, base_url, system, prompt)))
                name = f"{key}.{asked}"
                return (await spender.ask(name, "spec", [Message("user", prompt)], system=system)).text

            try:
                return await draft_spec(task, ask, box, reveal=reveal)
            finally:
                await llm.aclose()

    drafted: Draft = run_async(work)
    return drafted, directory


def report(drafted: Draft) -> str:
    """What was drafted, what was verified, and what was refused, one line each."""
    lines = [f"drafted: {', '.join(drafted.drafted) or 'nothing that stood the check'}"]
    lines += [f"verified: {name}: {how}" for name, how in drafted.verified.items()]
    lines += [f"refused: {why}" for why in drafted.refused]
    return "\n".join(lines)
