"""Retry calls that fail temporarily; the SDKs' own retries are disabled."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from typing import Any

from promptpo.llm.failures import may_pass, retry_after

FIRST_PAUSE_SECONDS = 1.0
"""Pause before the first retry; each further pause is twice as long."""
MAX_PAUSE_SECONDS = 60.0
"""Longest pause."""
MAX_REQUESTED_PAUSE_SECONDS = 300.0
"""Longest pause that a service may request; for a longer one the call fails."""
BUSY = frozenset({429, 503, 529})
"""HTTP statuses of services that are overloaded or starting."""

logger = logging.getLogger(__name__)


class Retries:
    """Retries shared by all calls of a provider.

    While a server fails, one call at a time is retried, with a pause that doubles for all of them. A server that stays
    down therefore gets as many retries as from a single call, plus one request from each further call.

    Args:
        most: Maximum number of retries.
        busy: Maximum number of retries while a service is only busy.
    """

    def __init__(self, most: int, busy: int) -> None:
        self._most, self._busy, self._turn = most, busy, asyncio.Lock()
        self._failed, self._due, self._reason = 0, 0.0, ""

    def reset(self) -> None:
        """Record that the server answers."""
        self._failed, self._due = 0, 0.0

    def allow(self, error: Any, tries: int, reason: str) -> bool:
        """Decide whether a call may be retried.

        Args:
            error: The failure of the call.
            tries: Number of its retries so far.
            reason: The failure as a sentence, shown while waiting.
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
        """Wait until a failed call may be retried.

        Args:
            failure: The failure of the call.
            turn: A stack to close when the server answers or the call fails again; the next call then has its turn.

        Raises:
            Exception: `failure`, if retries were exhausted in the meantime.
        """
        await turn.enter_async_context(self._turn)
        if self._failed >= self._most_for(failure):
            raise failure
        pause = max(0.0, self._due - time.monotonic())
        if self._due:
            logger.warning("%s Trying again in %s s.", self._reason, max(1, round(pause)))
        await asyncio.sleep(pause)
