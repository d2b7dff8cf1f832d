"""Close environments safely, whatever their ``close`` does."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from promptpo.envs.contract import blaming, patience
from promptpo.envs.notes import note_once
from promptpo.errors import EnvironmentFaultError

if TYPE_CHECKING:
    import gymnasium

CLOSE_SECONDS = 5.0
"""Time for closing one environment; many must stop a simulator."""

AFTER_HANG_SECONDS = 0.1
"""Time for each further one after one has hung; it ends with its process."""

hung: list[str] = []
"""Environments of this process whose ``close`` took too long."""


def close_safely(env: gymnasium.Env[Any, Any], name: str) -> None:
    """Let an environment's ``close`` run at most once, within a time limit, and warn if it fails.

    Args:
        env: The environment, whose ``close`` is replaced.
        name: Its name in the warning.
    """
    setattr(env, "close", functools.partial(_close, [env.close], name))  # noqa: B010 - replaces a method


def _close(closing: list[Callable[[], object]], name: str) -> None:
    if not closing:
        return
    close, what = closing.pop(), f"close of the environment {name}"
    try:
        with patience(AFTER_HANG_SECONDS if hung else CLOSE_SECONDS, what), blaming(what):
            close()
    except EnvironmentFaultError as fault:
        if fault.__cause__ is None:
            hung.append(name)
        note_once(what, f"{str(fault).rstrip('.')}; no result is affected.")
