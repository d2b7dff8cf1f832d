"""A search that was asked to end may still do some things, and no others."""

import asyncio
import time
from typing import Any

import pytest

from promptpo.core import control
from promptpo.core.control import Control, StopReason


async def _slept(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "done"


def test_work_after_a_search_is_ended_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is quick gives its result; what is not is cancelled, and all of it shares the seconds that are left."""
    monkeypatch.setattr(control, "GRACE_SECONDS", 0.2)

    async def main() -> tuple[list[str | None], float]:
        ending = Control()
        found = [await ending.finish(_slept(0.01))]
        asyncio.get_running_loop().call_later(0.05, ending.stop, StopReason("cancelled", "enough"))
        begun = time.monotonic()
        found.append(await ending.finish(_slept(30)))
        found.append(await ending.finish(_slept(0)))
        found.append(await ending.finish(_slept(30)))
        return found, time.monotonic() - begun

    found, took = asyncio.run(main())
    assert found[:2] == ["done", None]
    assert found[3] is None
    assert took < 20


def test_a_failure_after_a_search_is_raised() -> None:
    """An error is not taken for work that was not over."""

    async def failing() -> None:
        raise ValueError("no such seed")

    with pytest.raises(ValueError, match="no such seed"):
        asyncio.run(Control().finish(failing()))


def test_asked_twice_the_run_is_left() -> None:
    """The first time the search ends, and what follows it goes on; the second time nothing does, and the way on is said."""
    over: list[str] = []

    async def main() -> None:
        ending, loop = Control("promptpo resume runs/a"), asyncio.get_running_loop()
        with ending.handle_interrupts():
            loop.call_later(0.05, ending.stop, StopReason("cancelled", "enough"))
            assert await ending.until_stopped(_slept(30)) is None
            over.append(str(ending.reason))
            loop.call_later(0.05, ending.stop, StopReason("cancelled", "now"))
            await _slept(30)
            over.append("never")

    with pytest.raises(KeyboardInterrupt, match="promptpo resume runs/a"):
        asyncio.run(main())
    assert over == ["enough"]


def test_what_was_asked_to_end_before_it_began_does_not_begin() -> None:
    """No call is made for a search whose end was asked for before."""
    begun: list[bool] = []

    async def work() -> None:
        begun.append(True)

    async def main() -> None:
        ending = Control()
        ending.stop(StopReason("cancelled", "enough"))
        assert await ending.until_stopped(work()) is None

    asyncio.run(main())
    assert not begun


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
def test_a_reason_is_read_from_a_result(result: dict[str, Any], kind: str, final: bool) -> None:
    """By its kind; what nobody knows is none."""
    reason = StopReason.read(result)
    assert (reason.kind, reason.is_final) == (kind, final)
    assert str(reason) == (result.get("stop_reason") or "")
    assert bool(reason) == bool(result.get("stop_reason"))
