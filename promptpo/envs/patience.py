"""A limit on how long an environment may take while the main process looks at it."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING, Any

from promptpo.errors import EnvironmentFaultError

if TYPE_CHECKING:
    from collections.abc import Iterator

BUILDING = 300.0
"""Seconds for building an environment: some load large models, or start a simulator."""

STEPPING = 60.0
"""Seconds for one reset or step."""


class _LateError(BaseException):
    """Raised inside the environment's code, which may well catch every ``Exception``."""


@contextlib.contextmanager
def patience(seconds: float, what: str) -> Iterator[None]:
    """Give up on what takes too long.

    The alarm interrupts Python code and waiting, in the main thread of a process on Unix. Elsewhere, and
    in compiled code that never returns, there is no limit; rollouts have their own, in worker processes.

    Args:
        seconds: How long it may take.
        what: Names it: "a step of CartPole-v1".

    Raises:
        EnvironmentFaultError: It took longer.
    """
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(_signal: int, _frame: Any) -> None:
        raise _LateError

    before = signal.signal(signal.SIGALRM, late)
    remaining, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except _LateError:
        raise EnvironmentFaultError(
            f"{what} took more than {seconds:g} seconds; the environment seems to hang."
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, remaining, interval)
        signal.signal(signal.SIGALRM, before)
