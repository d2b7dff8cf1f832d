"""Retries of calls whose failure may pass: the only ones, since the SDKs are told to make none."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from typing import Any

from promptpo.llm.failures import may_pass, retry_after

FIRST_PAUSE_SECONDS = 1.0
"""Before a call is sent again; each further pause is twice as long."""
MAX_PAUSE_SECONDS = 60.0
"""Pauses do not grow beyond this."""
MAX_REQUESTED_PAUSE_SECONDS = 300.0
"""A service that asks for a longer pause is not asked again."""
BUSY = frozenset({429, 503, 529})
"""Statuses of services that have too much to do for the moment, or are starting."""

logger = logging.getLogger(__name__)


class Retries:
    """Retries for all calls of a provider together.

    While a server fails, one call at a time is sent again, after pauses that double for all of them. So a server that stays down is asked as often as
    by a single call, and once by each further call until it answers.

    Args:
        most: Retries until the calls are given up.
        busy: The same while a service is only busy.
    """

    def __init__(self, most: int, busy: int) -> None:
        self._most, self._busy, self._turn = most, busy, asyncio.Lock()
        self._failed, self._due, self._reason = 0, 0.0, ""

    def reset(self) -> None:
        """Note that the server answers."""
        self._failed, self._due = 0, 0.0

    def allow(self, error: Any, tries: int, reason: str) -> bool:
        """Decide whether a call is sent again.

        Args:
            error: Why it failed.
            tries: How often it has been sent again already.
            reason: The same as a sentence; shown while waiting.
        """
        self._failed += bool(tries)
        pause = retry_after(error) or min(FIRST_PAUSE_SECONDS * 2**self._failed, MAX_PAUSE_SECONDS)
        most = self._most_for(error)
        if (
            not may_pass(error, tries)
            or max(tries, self._failed) >= most
            or pause > MAX_REQUESTED_PAUSE_SECONDS
        ):
            return False
        self._due, self._reason = max(self._due, time.monotonic() + pause), reason
        return True

    def _most_for(self, error: Any) -> int:
        return self._busy if getattr(error, "status_code", None) in BUSY else self._most

    async def wait(self, failure: Exception, turn: contextlib.AsyncExitStack) -> None:
        """Wait until a call that failed may be sent again.

        Args:
            failure: Why it failed.
            turn: To be closed once the server answers, or the call has failed again; then the next call follows.

        Raises:
            Exception: `failure`, if the server was given up in the meantime.
        """
        await turn.enter_async_context(self._turn)
        if self._failed >= self._most_for(failure):
            raise failure
        pause = max(0.0, self._due - time.monotonic())
        if self._due:
            logger.warning("%s Trying again in %s s.", self._reason, max(1, round(pause)))
        await asyncio.sleep(pause)
