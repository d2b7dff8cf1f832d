"""Interrupting a search: work that may still finish, and work that is cancelled."""

import asyncio
import time
from typing import Any

import pytest

from promptpo.core import control
from promptpo.core.control import Control, StopReason


async def finish_after(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "done"


def test_pending_work_shares_the_grace_period(monkeypatch: pytest.MonkeyPatch) -> None:
    """Quick work returns its result; the rest is cancelled."""
    monkeypatch.setattr(control, "GRACE_SECONDS", 0.2)

    async def main() -> tuple[list[str | None], float]:
        search_control = Control()
        results = [await search_control.finish(finish_after(0.01))]
        asyncio.get_running_loop().call_later(0.05, search_control.stop, StopReason("cancelled", "enough"))
        started = time.monotonic()
        results.append(await search_control.finish(finish_after(30)))
        results.append(await search_control.finish(finish_after(0)))
        results.append(await search_control.finish(finish_after(30)))
        return results, time.monotonic() - started

    results, took = asyncio.run(main())
    assert results[:2] == ["done", None]
    assert results[3] is None
    assert took < 20


def test_failure_of_pending_work_is_raised() -> None:
    """It must not be mistaken for cancelled work."""

    async def failing() -> None:
        raise ValueError("no such seed")

    with pytest.raises(ValueError, match="no such seed"):
        asyncio.run(Control().finish(failing()))


def test_second_interrupt_raises_keyboard_interrupt() -> None:
    """The first ends the search gracefully; the second's message says how to resume."""
    reached: list[str] = []

    async def main() -> None:
        search_control, loop = Control("promptpo resume runs/a"), asyncio.get_running_loop()
        with search_control.handle_interrupts():
            loop.call_later(0.05, search_control.stop, StopReason("cancelled", "enough"))
            assert await search_control.until_stopped(finish_after(30)) is None
            reached.append(str(search_control.reason))
            loop.call_later(0.05, search_control.stop, StopReason("cancelled", "now"))
            await finish_after(30)
            reached.append("never")

    with pytest.raises(KeyboardInterrupt, match="promptpo resume runs/a"):
        asyncio.run(main())
    assert reached == ["enough"]


def test_stopped_search_starts_no_work() -> None:
    started: list[bool] = []

    async def work() -> None:
        started.append(True)

    async def main() -> None:
        search_control = Control()
        search_control.stop(StopReason("cancelled", "enough"))
        assert await search_control.until_stopped(work()) is None

    asyncio.run(main())
    assert not started


@pytest.mark.parametrize(
    ("result", "kind", "final"),
    [
        ({"stop_reason": "all 5 rounds are done"}, "", True),
        ({"stop_reason": "cancelled", "stop_kind": "rounds"}, "rounds", True),
        ({"stop_reason": "x", "stop_kind": ["no", "kind"]}, "", True),
        ({"stop_reason": None}, "", True),
        ({}, "", True),
    ],
)
def test_stop_reason_is_read_from_a_result(result: dict[str, Any], kind: str, final: bool) -> None:
    """Unknown kinds are ignored."""
    reason = StopReason.read(result)
    assert (reason.kind, reason.is_final) == (kind, final)
    assert str(reason) == (result.get("stop_reason") or "")
    assert bool(reason) == bool(result.get("stop_reason"))
