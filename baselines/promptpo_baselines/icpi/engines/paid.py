"""Completions that cost something: asked once, kept on disk, counted against budgets."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import Counter
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Protocol

from promptpo.errors import BudgetSpentError, ProviderError
from promptpo.llm.base import Usage
from promptpo.run.journal import Event
from promptpo_baselines.icpi.values import CompletionRequest, Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo.run.journal import Journal
    from promptpo.run.ledger import Ledger

KEPT_ON_OVERFLOW = 0.9
"""Share of the examples that stay when a prompt turns out to be too long."""


LAST_ANSWERS_SECONDS = 30.0
"""How long answers under way are waited for after Ctrl-C; a second one does not wait."""


class ContextOverflowError(ProviderError):
    """The prompt does not fit into the model's context."""


class Completer(Protocol):
    """Completes one prompt; many may be in flight at once.

    Attributes:
        name: As ``--engine`` would say it, with everything that decides its answers.
        concurrency: How many requests it takes at once.
    """

    name: str
    concurrency: int

    async def complete(self, request: CompletionRequest) -> Result:
        """Complete one prompt, with the retries that its service calls for.

        Raises:
            ContextOverflowError: It is too long.
            ProviderError: It cannot be completed.
        """
        ...

    async def aclose(self) -> None:
        """Release connections; calling it twice is harmless."""
        ...


class PaidEngine:
    """An engine over a completer: batches, budgets, and a journal that never pays twice.

    A completion is journaled as soon as it is there, each on its own, under a key of everything that
    decides it: engine, sampling settings, prompt, number of the attempt, and how many times the same has
    been asked in this run. A run that is repeated with the same seed asks the same, so resuming is
    running again.

    Args:
        completer: Who completes.
        ledger: Whether another call may be made.
        journal: Where completions are kept; None keeps none.
    """

    paid = True

    def __init__(self, completer: Completer, ledger: Ledger, journal: Journal | None = None) -> None:
        self.name = completer.name
        self._completer, self._ledger, self._journal = completer, ledger, journal
        self._asked: Counter[str] = Counter()
        self._began = time.monotonic()
        self._runner = asyncio.Runner()
        self._closed = False

    def complete(self, requests: Sequence[CompletionRequest]) -> list[Result]:
        """Complete a batch, in order.

        Raises:
            ProviderError: A request cannot be completed; what else was in flight is kept.
            BudgetSpentError: The next request would pass a limit.
        """
        keys = [self._key(request) for request in requests]
        found = [self._find(key) for key in keys]
        missing = [n for n, result in enumerate(found) if result is None]
        if missing:
            # Requests with the same examples go one after the other, for a server that caches prefixes.
            missing.sort(key=lambda n: requests[n].examples)
            answers = self._runner.run(self._gather([(keys[n], requests[n]) for n in missing]))
            for n, answer in zip(missing, answers, strict=True):
                if isinstance(answer, BaseException):
                    raise answer
                found[n] = answer
        return [result for result in found if result is not None]

    def close(self) -> None:
        """End the connections; calling it twice is harmless."""
        if not self._closed:
            self._closed = True
            self._runner.run(self._completer.aclose())
            self._runner.close()

    async def _gather(self, asked: Sequence[tuple[str, CompletionRequest]]) -> list[Result | BaseException]:
        free = asyncio.Semaphore(self._completer.concurrency)
        under_way: set[asyncio.Task[Result]] = set()

        async def one(key: str, request: CompletionRequest) -> Result:
            async with free:
                call = asyncio.ensure_future(self._pay(key, request))
                under_way.add(call)
                call.add_done_callback(under_way.discard)
                return await asyncio.shield(call)

        waiting = asyncio.gather(*(one(*item) for item in asked), return_exceptions=True)
        try:
            return await waiting
        except asyncio.CancelledError:
            await _received(set(under_way))
            raise

    async def _pay(self, key: str, request: CompletionRequest) -> Result:
        limit = self._ledger.budget.seconds
        if limit is not None and time.monotonic() - self._began >= limit:
            raise BudgetSpentError(f"the limit of {limit:g} seconds is reached")
        self._ledger.reserve_call()
        started = time.monotonic()
        try:
            result = await self._fitting(request)
            result = replace(result, seconds=round(time.monotonic() - started, 3))
            data = {
                "purpose": request.kind,
                "text": result.text,
                "usage": asdict(result.usage),
                "cost_usd": result.cost_usd,
                "seconds": result.seconds,
            }
            if result.logprobs:
                data["logprobs"] = dict(result.logprobs)
            if self._journal is None:
                self._ledger.add(Event(0, time.time(), "completion", key, data))
            else:
                self._ledger.add(self._journal.add("completion", key, data))
        finally:
            self._ledger.release_call()
        return result

    async def _fitting(self, request: CompletionRequest) -> Result:
        """Complete; where the prompt is too long, with fewer examples."""
        while True:
            try:
                return await self._completer.complete(request)
            except ContextOverflowError:
                shorter = without_oldest(request.examples)
                if not shorter:
                    raise
            request = replace(request, examples=shorter)

    def _key(self, request: CompletionRequest) -> str:
        settings = [
            self.name, request.max_tokens, request.temperature, request.stop, request.choices, request.attempt,
        ]  # fmt: skip
        if request.score:
            settings.append("score")
        text = json.dumps(settings) + request.prompt
        digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        self._asked[digest] += 1
        return f"{digest}.{self._asked[digest]}"

    def _find(self, key: str) -> Result | None:
        data: Any = self._journal.find("completion", key) if self._journal is not None else None
        if data is None:
            return None
        usage = data["usage"]
        return Result(
            data["text"],
            Usage(usage["input_tokens"], usage["cached_input_tokens"], usage["output_tokens"]),
            data["cost_usd"],
            data.get("logprobs") or {},
            data.get("seconds", 0.0),
        )


async def _received(calls: set[asyncio.Task[Result]]) -> None:
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
