"""The step budget of a run: the table that divides it among kinds of events, and the ledger of what is spent."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args

from promptpo.core.candidate import REFERENCE_TEST, StepPurpose
from promptpo.core.config import MOST_TRAINED, MOST_VALIDATED, Budget, Config
from promptpo.core.journal import Event
from promptpo.errors import BudgetSpentError
from promptpo.llm.base import LLM, Completion, Usage

Demand: TypeAlias = tuple[int | None, int, str]


@dataclass(frozen=True, slots=True)
class Allotment:
    """The part of the run's step budget for one kind of event.

    Attributes:
        counted: Purpose under which results count its steps.
        what: What the steps do, as a verb phrase.
        share: Maximum share of the budget, unless the floor is higher.
        floor: Minimum number of units, named beside each row; below it, an `optional` part gets nothing.
        cap: Maximum number of units.
        demand: Function of the configuration, the model and the longest episode. It returns the part's steps in this run (None
            without a limit), its maximum number of model calls and a line for ``--estimate``, or None if the run has no such
            part. Nothing new begins once the steps are taken. Training, validation and tuning, a run's purpose, have no demand.
    """

    counted: StepPurpose
    what: str
    share: float
    floor: int
    cap: int
    optional: bool = False
    demand: Callable[[Config, LLM, int], Demand | None] = lambda *_: None


ALLOTMENTS: dict[str, Allotment] = {
    # episodes of each candidate
    "evaluation": Allotment("train", "try each policy", 0.2, 3, MOST_TRAINED),
    # episodes of each contender
    "validation": Allotment("validation", "choose the best", 0.2, 5, MOST_VALIDATED),
    # episodes a round, of what the others leave
    "tuning": Allotment("tune", "tune parameters", 1.0, 30, 40_000, optional=True),
}
"""Parts by kind of event; features add theirs. Kinds without one, such as tests, are outside the budget. The shares of features
are small enough that a run would not miss them."""

TEST_SECONDS = 600.0
"""Approximate limit on the final test if the user names no number of episodes: a planner may think for a minute in each."""

UNLIMITED_STEPS = 100_000
"""Steps for tuning in one round of a run without a step limit."""


def affordable_units(kind: str, steps: int | None, each: int, cap: int | None = None) -> int:
    """Return how many units of a kind of event a budget of so many steps pays for, up to the cap, by default the table's.

    A unit takes at most `each` steps, over all places where they are spent; a budget without a limit is None.
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
    """Return how many steps a kind of event may take in the whole run, divided into equal parts; None without a limit.

    This is its share or its floor, whichever is more; steps and each are those of `affordable_units`.
    """
    if steps is None:
        return None
    return max(int(ALLOTMENTS[kind].share * steps), affordable_units(kind, steps, each) * each) // parts


def affordable(left: int | None, candidates: int, *, each: int, validation: int) -> int:
    """Return how many of a round's candidates the steps pay for, so that no answer is bought that cannot be rolled out.

    Each takes `each` steps in training; the leader and a rival take validation steps as well. Without a limit, `left` is None.
    """
    return candidates if left is None else max(1, min(candidates, (left - 2 * validation) // max(1, each)))


def challengers(config: Config) -> int:
    """Return how many of a round's candidates may play validation episodes."""
    return 1 if config.follows_paper else 2


def budget_row(kind: str, key: str) -> tuple[str | None, StepPurpose]:
    """Return the kind of event whose part pays (None for test seeds), and the purpose under which the steps are counted."""
    row = ALLOTMENTS.get(kind)
    return None if row is None or key.endswith(REFERENCE_TEST) else kind, row.counted if row else "test"


class Ledger:
    """Counts calls, tokens, money, steps and seconds from the events of a journal.

    Attributes:
        limits: Step limits by kind of event, other than search and tuning, once the run has set them.
        taken: Steps by kind of event, without those of references on test seeds.
        searched_steps: Steps that count against the budget: all but those on test seeds.
        seconds: Time promptpo has worked on the run until the last event, in this and earlier processes.
        streamed_chars: Characters received so far of each answer in flight, by call.
    """

    def __init__(self, budget: Budget, events: Iterable[Event] = ()) -> None:
        self.budget = budget
        self.limits: Mapping[str, int] = {}
        self.calls = 0
        self.usage = Usage()
        self.cost_usd = 0.0
        self.unpriced_calls = 0
        self.steps: dict[StepPurpose, int] = dict.fromkeys(get_args(StepPurpose), 0)
        self.streamed_chars: dict[str, int] = {}
        self.taken: Counter[str] = Counter()
        self.searched_steps = 0
        self.calls_in_flight = 0
        self._reserved = 0
        self._released = asyncio.Event()
        self.seconds = 0.0
        self._last: float | None = None
        self._unpriced_before = 0
        for event in events:
            self.add(event)

    def add(self, event: Event) -> None:
        """Count one event of the journal."""
        data: Any = event.data
        if event.kind == "session":
            self._unpriced_before = self.unpriced_calls
            self._last = event.t  # the pause before a session does not count
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
        """Return the steps neither spent nor reserved; None without a limit."""
        if self.budget.steps is None:
            return None
        return max(0, self.budget.steps - self.searched_steps - self._reserved)

    def steps_left_for(self, kind: str, parts: int = 1) -> int | None:
        """Return the steps that a kind of event may still take, divided into equal parts; None without a limit."""
        left = self.steps_left()
        if left is None:
            return None
        most = step_allotment(kind, self.budget.steps) or 0
        return min(left, max(0, most - self.taken[kind])) // parts

    def reserve_call(self) -> None:
        """Reserve a model call; BudgetSpentError if it would exceed a limit."""
        budget = self.budget
        for limit, spent, words in (
            (budget.calls, self.calls + self.calls_in_flight, f"{budget.calls} language-model calls"),
            (budget.usd, self.cost_usd, f"${budget.usd or 0:g}"),
            (budget.tokens, self.usage.total, f"{budget.tokens} tokens"),
        ):
            if limit is not None and spent >= limit:
                raise BudgetSpentError(f"the limit of {words} is reached")
        if budget.usd is not None and self.unpriced_calls > self._unpriced_before:
            raise BudgetSpentError(
                f"the limit of ${budget.usd:g} cannot be enforced, since the price of a call is unknown (set it with PROMPTPO_PRICES)"
            )
        self.calls_in_flight += 1

    def release_call(self, calls: int = 1) -> None:
        """Release calls reserved by `reserve_call`, once they are journaled or have failed."""
        self.calls_in_flight -= calls

    @contextlib.asynccontextmanager
    async def reserve(self, kind: str | None, wanted: int) -> AsyncIterator[int]:
        """Reserve up to `wanted` steps until their results are in the journal; yields the number granted.

        A limited kind of event begins nothing new once it has taken its steps; None is work outside the budget. Reservations are for
        the worst case, so near the end of the budget this waits for running rollouts to return unused steps instead of granting
        scraps. A holder of a reservation must not request another. BudgetSpentError says that no steps are left.
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
        """Error for a run that has no steps left."""
        return BudgetSpentError(f"the limit of {self.budget.steps:,} environment steps is reached", "steps")


def validation_block_size(config: Config) -> int:
    """Return the number of validation seeds played at once: a quarter of a round's, each variant of a family equally often."""
    turn = len(config.task.family) or 1
    return -(-config.score_episodes // (4 * turn)) * turn
