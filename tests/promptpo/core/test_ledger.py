"""The ledger: budgets are never exceeded and are derived from the journal alone."""

import asyncio
import contextlib
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from promptpo.core.budget import Ledger
from promptpo.core.config import Budget
from promptpo.core.journal import Event
from promptpo.errors import BudgetSpentError
from promptpo.llm.base import Completion, Usage


def completion(n: Any, *, t: float = 0.0, cost: float = 0.01, tokens: int = 100, calls: int = 1) -> Any:
    """A journaled call."""
    data = asdict(Completion("text", "m", usage=Usage(tokens, 0, tokens), cost_usd=cost, calls=calls))
    return Event(n, t, "completion", str(n), data)


def spent(n: Any, t: float = 0.0, **steps: Any) -> Any:
    """A journaled rollout."""
    return Event(n, t, "evaluation", str(n), {"spent": steps})


@given(st.lists(st.tuples(st.sampled_from(["train", "tune", "test"]), st.integers(0, 1000))))
def test_steps_are_counted_by_purpose(rollouts: Any) -> None:
    """Test steps are outside the budget."""
    ledger = Ledger(Budget(), [spent(n, **{purpose: steps}) for n, (purpose, steps) in enumerate(rollouts)])
    for purpose in ("train", "tune", "test"):
        assert ledger.steps[purpose] == sum(steps for name, steps in rollouts if name == purpose)
    assert ledger.searched_steps == ledger.steps["train"] + ledger.steps["tune"]


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        (Budget(calls=3), "3 language-model calls"),
        (Budget(usd=0.03), r"\$0.03"),
        (Budget(tokens=600), "600 tokens"),
    ],
)
def test_call_beyond_a_limit_is_refused(budget: Any, words: str) -> None:
    """The error names the limit."""
    ledger = Ledger(budget, [completion(n) for n in range(3)])
    with pytest.raises(BudgetSpentError, match=words):
        ledger.reserve_call()


def test_calls_in_flight_count_towards_the_limit() -> None:
    ledger = Ledger(Budget(calls=2))
    ledger.reserve_call()
    ledger.reserve_call()
    with pytest.raises(BudgetSpentError):
        ledger.reserve_call()
    ledger.release_call()
    ledger.reserve_call()


def test_unpriced_calls_are_counted_separately() -> None:
    """Their cost is never guessed."""
    ledger = Ledger(Budget(usd=1.0), [completion(0, cost=None, calls=3), completion(1)])
    assert (ledger.calls, ledger.unpriced_calls, ledger.cost_usd) == (4, 3, 0.01)


def test_reservation_waits_for_released_steps() -> None:
    """Near the end of the budget, a worst-case reservation must not starve the next one."""

    async def work() -> Any:
        ledger = Ledger(Budget(steps=100))
        order = []

        async def first() -> None:
            async with ledger.reserve("training", 100):
                await asyncio.sleep(0.01)
            ledger.add(spent(0, train=30))
            order.append("first")

        async def second() -> None:
            await asyncio.sleep(0.001)
            async with ledger.reserve("training", 60) as granted:
                order.append(granted)

        await asyncio.gather(first(), second())
        return order

    assert asyncio.run(work()) == ["first", 60]


def test_exhausted_step_budget_raises() -> None:

    async def work() -> None:
        ledger = Ledger(Budget(steps=10), [spent(0, train=10)])
        async with ledger.reserve("training", 1):
            pass

    with pytest.raises(BudgetSpentError, match="10 environment steps"):
        asyncio.run(work())


def test_time_excludes_pauses_between_sessions() -> None:
    events = [
        Event(0, 100.0, "session", "0", {}),
        completion(1, t=130.0),
        Event(2, 900.0, "session", "1", {}),
        completion(3, t=910.0),
    ]
    ledger = Ledger(Budget(seconds=60.0), events)
    assert ledger.seconds == 40.0
    ledger.add(Event(4, 4999.0, "session", "2", {}))
    ledger.add(completion(4, t=5000.0))
    ledger.add(completion(5, t=5007.0))
    assert ledger.seconds == 48.0


WORK = st.lists(st.tuples(st.integers(1, 60), st.integers(0, 60)), max_size=6)


@example(work=[(70, 70), (70, 70)], limit=100)
@given(work=WORK, limit=st.integers(1, 200))
def test_reservations_do_not_deadlock(work: Any, limit: Any) -> None:
    """All work completes within the budget."""

    async def piece(ledger: Any, wanted: int, used: int) -> None:
        with contextlib.suppress(BudgetSpentError):
            async with ledger.reserve("training", wanted) as granted:
                await asyncio.sleep(0)
            ledger.add(spent(0, train=min(used, granted)))

    async def everything() -> Any:
        ledger = Ledger(Budget(steps=limit))
        await asyncio.wait_for(asyncio.gather(*(piece(ledger, *sizes) for sizes in work)), 60)
        return ledger

    ledger = asyncio.run(everything())
    assert ledger.searched_steps <= limit
    assert ledger.steps_left() == limit - ledger.searched_steps
