"""Completions that cost something: asked once, kept on disk, counted against budgets."""

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
"""Share of the examples that stay when a prompt turns out to be too long."""
TOO_LONG = "do not fit into the context"
"""What providers say of such a prompt."""
LAST_ANSWERS_SECONDS = 30.0
"""How long answers under way are waited for after Ctrl-C; a second one does not wait."""
CONCURRENCY = 4
"""Requests in flight, where a model does not say how many it takes."""
AROUND_LABELS = " \t\n()\u2581\u0120"
"""What tokenizers write before a word, and what a question writes around a label."""


class PaidEngine:
    """An engine over a language model: batches, budgets, and a journal that never pays twice.

    A completion is journaled as soon as it is there, each on its own, under a key of everything that
    decides it: engine, sampling settings, prompt, number of the attempt, and how many times the same has
    been asked in this run. A run that is repeated with the same seed asks the same, so resuming is
    running again.

    Args:
        llm: Who completes.
        ledger: Whether another call may be made; it listens to the journal.
        journal: Where completions are kept.
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
            ProviderError: A request cannot be completed; what else was in flight is kept.
            BudgetSpentError: The next request would pass a limit.
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
        """End the connections."""
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
        """Complete; where the prompt is too long, with fewer examples."""
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
    """Wait for answers that are being written, which are paid for; give up those that take too long."""
    if calls:
        _, late = await asyncio.wait(calls, timeout=LAST_ANSWERS_SECONDS)
        for call in late:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)


def without_oldest(examples: str) -> str:
    """The examples less the first tenth of them, at least one."""
    blocks = examples.split("\n\n")
    dropped = max(1, round(len(blocks) * (1 - KEPT_ON_OVERFLOW)))
    return "\n\n".join(blocks[dropped:])


def of_choices(tokens: Mapping[str, float], choices: Sequence[str]) -> dict[str, float]:
    """The tokens that stand for a choice, and the least likely of all, which says what the others have at most."""
    least = min(tokens, key=tokens.__getitem__, default="")
    return {
        token: value
        for token, value in tokens.items()
        if token == least or token.strip(AROUND_LABELS) in choices
    }
