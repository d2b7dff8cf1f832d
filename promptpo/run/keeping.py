"""What a process leaves and finds in a run's directory: answers that were paid for, and what to do where it is full."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from promptpo.errors import RewardFaultError, RunError
from promptpo.run.journal import JOURNAL, read_events
from promptpo.run.spender import completion_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from promptpo.llm.base import Completion


def answered(directory: Path) -> tuple[Completion, ...]:
    """Answers that earlier processes of this run have had."""
    events = read_events(directory / JOURNAL) if (directory / JOURNAL).exists() else ()
    return tuple(completion_of(one.data) for one in events if one.kind == "completion")


@contextlib.contextmanager
def writing(directory: Path, then: str) -> Iterator[None]:
    """Tell what to do where the disk does not take what is written.

    Args:
        directory: The run.
        then: The command that goes on when there is room.

    Raises:
        RunError: It is full, or gone, or not ours.
    """
    try:
        yield
    except OSError as error:
        raise RunError(f"cannot write to {directory}: {error.strerror}. Make room, then: {then}") from error


@contextlib.contextmanager
def paid_for(directory: Path, *, asked: bool) -> Iterator[None]:
    """Say where the answers are that were paid for, when a reward program fails.

    Args:
        directory: The run.
        asked: Whether a language model writes in it; a search without one paid for none.

    Raises:
        RewardFaultError: It does, and there is no result.
    """
    try:
        yield
    except RewardFaultError as fault:
        if not asked:
            raise
        raise RewardFaultError(
            f"{fault} The answers so far are in {directory}: a new run hears them again, unpaid, with "
            f"--model replay:{directory}"
        ) from fault
