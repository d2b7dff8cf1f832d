"""Language-model calls that are made once in the life of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from promptpo.errors import UsageError
from promptpo.llm.base import Completion, Message, Purpose, Request, Situation, Usage
from promptpo.llm.text import visible
from promptpo.program.answers import text_digest

if TYPE_CHECKING:
    from promptpo.llm.base import LLM
    from promptpo.run.config import Config
    from promptpo.run.journal import Journal
    from promptpo.run.ledger import Ledger


def check_wishes(config: Config, llm: LLM) -> None:
    """Refuse what a provider cannot heed, before anything is asked.

    Raises:
        UsageError: A limit on money for calls without a known price, or an effort for what takes none.
    """
    if config.effort is not None and not getattr(llm, "takes_effort", False):
        raise UsageError(f"--effort is for anthropic: and openai: models; {visible(llm.name)} takes none.")
    if config.budget.usd is not None and not getattr(llm, "price_known", True):
        raise UsageError(
            f"--max-usd cannot limit {visible(llm.name)}, whose price is not known: state it with --price IN,OUT "
            f"(US dollars per million tokens), or limit the run with --max-tokens or --max-calls instead."
        )


class Caller:
    """Asks a provider through the journal: an answer that is on disk is never asked for again.

    Args:
        llm: Who answers.
        system: The system prompt of every call.
        config: Sampling settings.
        journal: Where a prompt is written before its call and an answer before anyone reads it.
        ledger: Whether a call may be made.
    """

    def __init__(self, llm: LLM, system: str, config: Config, journal: Journal, ledger: Ledger) -> None:
        self.llm, self.system = llm, system
        self._config, self._journal, self._ledger = config, journal, ledger

    def can(self, purpose: Purpose) -> bool:
        """Whether the provider answers this kind of request; program search only writes policies."""
        return purpose in self.llm.purposes

    async def ask(
        self, key: str, purpose: Purpose, messages: Sequence[Message], situation: Situation | None = None
    ) -> Completion:
        """One call.

        Args:
            key: Its name in the run.
            purpose: What the answer is for.
            messages: The conversation after the system prompt.
            situation: The same facts as values, for providers that compute.

        Raises:
            ProviderError: It cannot be answered.
            BudgetSpentError: It would pass a limit.
        """
        found = self._journal.find("completion", key)
        if found is not None:
            return completion_of(found)
        request = Request(
            key=key,
            purpose=purpose,
            system=self.system,
            messages=tuple(messages),
            max_output_tokens=self._config.max_output_tokens,
            temperature=self._config.temperature,
            effort=self._config.effort,
            situation=situation,
        )
        self._ledger.reserve_call()
        try:
            prompt = self._store_prompt(request)
            completion = await self.llm.complete(request)
            data = {"purpose": purpose, "prompt": prompt, **asdict(completion)}
            self._journal.add("completion", key, data)
        finally:
            self._ledger.release_call()
        return completion

    def _store_prompt(self, request: Request) -> str:
        """Write the prompt once, however many samples are drawn from it; returns its name."""
        turns = [{"role": message.role, "content": message.content} for message in request.messages]
        name = text_digest(repr((request.system, turns)))
        if self._journal.find("prompt", name) is None:
            self._journal.add("prompt", name, {"system": request.system, "messages": turns})
        return name


def completion_of(data: Mapping[str, Any]) -> Completion:
    """The answer in a journal event."""
    return Completion(
        text=data["text"],
        model=data["model"],
        finish=data["finish"],
        usage=Usage(**data["usage"]),
        cost_usd=data["cost_usd"],
        seconds=data["seconds"],
    )
