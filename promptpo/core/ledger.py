"""The ledger of a run: what it has spent, and whether it may spend more."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import TYPE_CHECKING, Any, get_args

from promptpo.core.budget import ALLOTMENTS, step_allotment
from promptpo.core.candidate import REFERENCE_TEST, StepPurpose
from promptpo.core.config import Budget
from promptpo.errors import BudgetSpentError
from promptpo.llm.base import Completion, Usage

if TYPE_CHECKING:
    from promptpo.core.journal import Event

LIMIT_WORDS = {"calls": "{} language-model calls", "usd": "${:g}", "tokens": "{} tokens"}
"""Limits on calls, in words, by their names in `Budget`."""


def budget_row(kind: str, key: str) -> tuple[str | None, StepPurpose]:
    """The kind of events whose part of the budget pays, none for what is on test seeds; and what steps are counted as."""
    row = ALLOTMENTS.get(kind)
    return None if row is None or key.endswith(REFERENCE_TEST) else kind, row.counted if row else "test"


class Ledger:
    """Counts calls, tokens, money, steps and seconds from the events of a journal.

    Args:
        budget: The limits.
        events: What the run's journal holds already; feed new ones to `add`.

    Attributes:
        limits: Steps by kind of event, beside search and tuning, where the run has said how many.
        taken: Steps by kind of event, without those of references on test seeds.
        searched_steps: Those that count against the budget: all but those on test seeds.
        seconds: That promptpo has worked on the run until the last event, in this process and in earlier ones.
        awaited: Calls that are being answered.
        arriving: Characters that have arrived of each answer that is being written, by the name of its call.
    """

    def __init__(self, budget: Budget, events: Iterable[Event] = ()) -> None:
        self.budget = budget
        self.limits: Mapping[str, int] = {}
        self.calls = 0
        self.usage = Usage()
        self.cost_usd = 0.0
        self.unpriced_calls = 0
        self.steps: dict[StepPurpose, int] = dict.fromkeys(get_args(StepPurpose), 0)
        self.arriving: dict[str, int] = {}
        self.taken: Counter[str] = Counter()
        self.searched_steps = 0
        self.awaited = 0
        self._reserved = 0
        self._released = asyncio.Event()
        self.seconds = 0.0
        self._last: float | None = None
        self._unpriced_before = 0
        for event in events:
            self.add(event)

    def add(self, event: Event) -> None:
        """Take one event of the journal into account."""
        data: Any = event.data
        if event.kind == "session":
            self._unpriced_before = self.unpriced_calls
            self._last = event.t  # the pause before it was nobody's work
        if self._last is not None:
            self.seconds += event.t - self._last
            self._last = event.t
        if event.kind == "completion":
            answer = event.read(Completion)
            self.calls += answer.calls
            self.usage += answer.usage
            self.unpriced_calls += answer.cost_usd is None
            self.cost_usd += answer.cost_usd or 0.0
        elif isinstance(data, dict) and "spent" in data:
            for purpose, steps in data["spent"].items():
                self.steps[purpose] = self.steps.get(purpose, 0) + steps
                if purpose != "test" and not event.key.endswith(REFERENCE_TEST):
                    self.taken[event.kind] += steps
                    self.searched_steps += steps

    def steps_left(self) -> int | None:
        """Steps that nobody has spent or reserved; None without a limit."""
        if self.budget.steps is None:
            return None
        return max(0, self.budget.steps - self.searched_steps - self._reserved)

    def room(self, kind: str, parts: int = 1) -> int | None:
        """Steps that a kind of event may still take, in each of so many even parts; None without a limit."""
        left = self.steps_left()
        if left is None:
            return None
        most = step_allotment(kind, self.budget.steps) or 0
        return min(left, max(0, most - self.taken[kind])) // parts

    def reserve_call(self) -> None:
        """Announce a call.

        Raises:
            BudgetSpentError: It would pass a limit.
        """
        budget = self.budget
        spent = {"calls": self.calls + self.awaited, "usd": self.cost_usd, "tokens": self.usage.total}
        for name, so_far in spent.items():
            limit = getattr(budget, name)
            if limit is not None and so_far >= limit:
                raise BudgetSpentError(f"the limit of {LIMIT_WORDS[name].format(limit)} is reached")
        if budget.usd is not None and self.unpriced_calls > self._unpriced_before:
            raise BudgetSpentError(
                f"the limit of ${budget.usd:g} cannot be kept, since a call had no known price (PROMPTPO_PRICES can name it)"
            )
        self.awaited += 1

    def release_call(self, calls: int = 1) -> None:
        """Calls announced by `reserve_call` have been journaled, or have failed."""
        self.awaited -= calls

    @contextlib.asynccontextmanager
    async def reserve(self, kind: str | None, wanted: int) -> AsyncIterator[int]:
        """Up to `wanted` steps, as many as are granted, until what they gave is in the journal.

        A kind beside search and tuning begins nothing more once it has taken what the budget has for it.

        Reservations are for the worst case, so near the end of the budget this waits for rollouts that are
        under way to give back what they do not use, instead of granting scraps. Whoever has one asks for no second.

        Args:
            kind: Whose part of the budget pays; None for what is outside the budget.
            wanted: Steps in the worst case.

        Raises:
            BudgetSpentError: None are left.
        """
        if kind is None:
            yield wanted
            return
        part = self.limits.get(kind)
        if part is not None and self.taken[kind] >= part:
            raise BudgetSpentError(f"the {part:,} steps to {ALLOTMENTS[kind].what} are used up")
        while (left := self.steps_left()) is not None and left < wanted and self._reserved:
            self._released.clear()
            await self._released.wait()
        granted = wanted if left is None else min(wanted, left)
        if granted <= 0:
            raise self.no_steps
        self._reserved += granted
        try:
            yield granted
        finally:
            self._reserved -= granted
            self._released.set()

    @property
    def no_steps(self) -> BudgetSpentError:
        """Message for a run that has no steps left."""
        return BudgetSpentError(f"the limit of {self.budget.steps:,} environment steps is reached", "steps")
