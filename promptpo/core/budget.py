"""The budget of a run, and its spending so far: the table that divides its steps among the kinds of events, and its ledger."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from promptpo.core.candidate import REFERENCE_TEST, StepPurpose
from promptpo.core.config import MOST_TRAINED, MOST_VALIDATED, Budget, Config
from promptpo.errors import BudgetSpentError
from promptpo.llm.base import Completion, Usage

if TYPE_CHECKING:
    from promptpo.core.journal import Event
    from promptpo.llm.base import LLM


Demand: TypeAlias = tuple[int | None, int, str]


@dataclass(frozen=True, slots=True)
class Allotment:
    """The part of the step budget that one kind of event has, in the whole run.

    Attributes:
        counted: What its steps are called in results.
        what: What the steps do, as a clause.
        share: Of the budget, at most, where the floor does not say more.
        floor: So many units in any case, in what its row says; where `optional`, nothing at all below it.
        cap: No more units than this.
        optional: Whether a part below its floor is not spent.
        demand: Steps that a run has for it, None without a limit, calls of the model that it takes at most, and a line of
            ``--estimate``, by the configuration, the model and the longest episode; None where it has no part. It begins nothing
            more once the steps are taken. What a run is for, training, validation and tuning, has none.
    """

    counted: StepPurpose
    what: str
    share: float
    floor: int
    cap: int
    optional: bool = False
    demand: Callable[[Config, LLM, int], Demand | None] = lambda *_: None


ALLOTMENTS: dict[str, Allotment] = {
    "evaluation": Allotment("train", "try each policy", 0.2, 3, MOST_TRAINED),  # episodes of each
    "validation": Allotment(
        "validation", "choose the best", 0.2, 5, MOST_VALIDATED
    ),  # episodes of each contender
    "tuning": Allotment(
        "tune", "tune parameters", 1.0, 30, 40_000, optional=True
    ),  # episodes a round, of what the others leave
}
"""By kind of event; features add their own. Events of kinds without one, as those of tests, are outside the budget. The shares of
features are small enough that a run without them would not notice."""

TEST_SECONDS = 600.0
"""About how long the final test may take where nobody says of how many episodes it is to be, by how long the first ones
took: a planner may think for a minute in each."""


UNLIMITED_STEPS = 100_000
"""Steps of one round's tuning where the run has no step limit."""


def affordable_units(kind: str, steps: int | None, each: int, cap: int | None = None) -> int:
    """How many units of a kind of event the budget pays for.

    Args:
        kind: Of event.
        steps: Of the whole budget; None without a limit.
        each: Steps that one unit costs in the worst case, in all the places where it is spent.
        cap: In place of the table's.
    """
    part = ALLOTMENTS[kind]
    most = part.cap if cap is None else cap
    if steps is None:
        return most
    paid = min(most, int(part.share * steps) // max(1, each))
    if part.optional:
        return paid if paid >= part.floor else 0
    return max(paid, min(part.floor, most))


def step_allotment(kind: str, steps: int | None, each: int = 1, parts: int = 1) -> int | None:
    """Steps that a kind of event may take in the whole run, by its share or, where that is more, by its floor.

    Args:
        kind: Of event.
        steps: Of the whole budget; None without a limit, which gives None.
        each: As for `affordable_units`.
        parts: Into how many even ones they are divided.
    """
    if steps is None:
        return None
    return max(int(ALLOTMENTS[kind].share * steps), affordable_units(kind, steps, each) * each) // parts


def affordable(left: int | None, candidates: int, *, each: int, validation: int) -> int:
    """How many of a round's candidates the steps pay for: an answer that no steps are left to play is paid for nothing.

    Args:
        left: Steps of the run; None without a limit.
        candidates: That are wanted.
        each: Steps that one takes in training.
        validation: Steps of one on fresh starts, which the leader and another need besides.
    """
    return candidates if left is None else max(1, min(candidates, (left - 2 * validation) // max(1, each)))


def challengers(config: Config) -> int:
    """How many of a round's candidates may play validation starts."""
    return 1 if config.published else 2


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
            self.unpriced_calls += answer.calls if answer.cost_usd is None else 0
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
        for limit, spent, words in (
            (budget.calls, self.calls + self.awaited, f"{budget.calls} language-model calls"),
            (budget.usd, self.cost_usd, f"${budget.usd or 0:g}"),
            (budget.tokens, self.usage.total, f"{budget.tokens} tokens"),
        ):
            if limit is not None and spent >= limit:
                raise BudgetSpentError(f"the limit of {words} is reached")
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


def validation_block_size(config: Config) -> int:
    """Fresh starts that a race plays at once: a quarter of a round's, each variant of a family equally often."""
    turn = len(config.task.family) or 1
    return -(-config.score_episodes // (4 * turn)) * turn
