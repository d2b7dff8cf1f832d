"""Completions that cost something: requested once, kept on disk, counted against budgets."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import Counter
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from promptpo.core.journal import from_json
from promptpo.errors import BudgetSpentError, ProviderError
from promptpo.llm.base import Completion
from promptpo_baselines.icpi.engines.chat import answer_line, build_request
from promptpo_baselines.icpi.engines.text import TextLLM

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptpo.core.budget import Ledger
    from promptpo.core.journal import Journal
    from promptpo.llm.base import LLM
    from promptpo_baselines.icpi.values import CompletionRequest

KEPT_ON_OVERFLOW = 0.9
"""Fraction of the examples kept when a prompt turns out to be too long."""
TOO_LONG = "do not fit into the context"
"""Part of providers' messages about such a prompt."""
LAST_ANSWERS_SECONDS = 30.0
"""Time to wait for answers in flight after Ctrl-C; a second one does not wait."""
CONCURRENCY = 4
"""Requests in flight, unless a model sets its own number."""
AROUND_LABELS = " \t\n()\u2581\u0120"
"""Characters that tokenizers write before a word, and that a question writes around a label."""


class PaidEngine:
    """An engine over a language model: batches, budgets, and a journal that never pays twice.

    A completion is journaled as soon as it arrives, each on its own, under a key of everything that determines it:
    engine, sampling settings, prompt, number of the attempt, and how often the same has been requested in this run. A
    run that is repeated with the same seed makes the same requests, so it is resumed by repeating it.

    Args:
        llm: Makes the completions.
        ledger: Decides whether another call may be made; listens to the journal.
        journal: Stores completions.
    """

    def __init__(self, llm: LLM, ledger: Ledger, journal: Journal) -> None:
        self.name = llm.name
        self._llm, self._ledger, self._journal = llm, ledger, journal
        self._asked: Counter[str] = Counter()
        self._began = time.monotonic()
        self._runner = asyncio.Runner()

    def complete(self, requests: Sequence[CompletionRequest]) -> list[Completion]:
        """Complete a batch, in order.

        Raises:
            ProviderError: A request cannot be completed; other requests in flight are kept.
            BudgetSpentError: The next request would exceed a limit.
        """
        keys = [self._key(request) for request in requests]
        found = {key: data for key in keys if (data := self._journal.find("completion", key)) is not None}
        # Requests with the same examples go one after the other, for a server that caches prefixes.
        missing = sorted(
            (n for n, key in enumerate(keys) if key not in found), key=lambda n: requests[n].examples
        )
        if missing:
            answers = self._runner.run(self._gather({keys[n]: requests[n] for n in missing}))
            for answer in answers:
                if isinstance(answer, BaseException):
                    raise answer
            found |= {keys[n]: self._journal.find("completion", keys[n]) for n in missing}
        return [from_json(Completion, found[key]) for key in keys]

    def close(self) -> None:
        """Close the connections."""
        self._runner.run(self._llm.aclose())
        self._runner.close()

    async def _gather(self, asked: Mapping[str, CompletionRequest]) -> list[BaseException | None]:
        free = asyncio.Semaphore(getattr(self._llm, "concurrency", CONCURRENCY))
        under_way: set[asyncio.Task[None]] = set()

        async def pay(key: str, request: CompletionRequest) -> None:
            async with free:
                call = asyncio.ensure_future(self._pay(key, request))
                under_way.add(call)
                call.add_done_callback(under_way.discard)
                await asyncio.shield(call)

        waiting = asyncio.gather(*(pay(*item) for item in asked.items()), return_exceptions=True)
        try:
            return await waiting
        except asyncio.CancelledError:
            await _receive_pending(set(under_way))
            raise

    async def _pay(self, key: str, request: CompletionRequest) -> None:
        limit = self._ledger.budget.seconds
        if limit is not None and time.monotonic() - self._began >= limit:
            raise BudgetSpentError(f"the limit of {limit:g} seconds is reached")
        self._ledger.reserve_call()
        try:
            completion = await self._fitting(request, key)
            likeliest = of_choices(completion.logprobs, request.choices or ())
            data = asdict(replace(completion, seconds=round(completion.seconds, 3), logprobs=likeliest))
            self._journal.add("completion", key, {"purpose": request.kind, **data})
        finally:
            self._ledger.release_call()

    async def _fitting(self, request: CompletionRequest, key: str) -> Completion:
        """Complete a request, with fewer examples if the prompt is too long."""
        while True:
            try:
                completion = await self._llm.complete(build_request(self._llm, request, key))
            except ProviderError as error:
                shorter = without_oldest(request.examples)
                if TOO_LONG not in str(error) or not shorter:
                    raise
                request = replace(request, examples=shorter)
            else:
                raw = request.system or isinstance(self._llm, TextLLM)
                return completion if raw else replace(completion, text=answer_line(completion.text))

    def _key(self, request: CompletionRequest) -> str:
        settings = [
            self.name, request.max_tokens, request.temperature, request.stop, request.choices, request.attempt,
            request.score,
        ]  # fmt: skip
        text = json.dumps(settings) + request.prompt
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        self._asked[digest] += 1
        return f"{digest}.{self._asked[digest]}"


async def _receive_pending(calls: set[Any]) -> None:
    """Wait for answers in flight, which are paid for; cancel those that take too long."""
    if calls:
        _, late = await asyncio.wait(calls, timeout=LAST_ANSWERS_SECONDS)
        for call in late:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)


def without_oldest(examples: str) -> str:
    """Return the examples without the oldest tenth of them, at least one."""
    blocks = examples.split("\n\n")
    dropped = max(1, round(len(blocks) * (1 - KEPT_ON_OVERFLOW)))
    return "\n\n".join(blocks[dropped:])


def of_choices(tokens: Mapping[str, float], choices: Sequence[str]) -> dict[str, float]:
    """Return the tokens that stand for a choice, and the least likely of all, which bounds the others."""
    least = min(tokens, key=tokens.__getitem__, default="")
    return {
        token: value
        for token, value in tokens.items()
        if token == least or token.strip(AROUND_LABELS) in choices
    }
