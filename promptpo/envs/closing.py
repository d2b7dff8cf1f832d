"""Closing environments, whatever their ``close`` does."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from promptpo.envs.contract import blaming, patience
from promptpo.errors import EnvironmentFaultError
from promptpo_sandbox.text import clean_line

if TYPE_CHECKING:
    import gymnasium

CLOSE_SECONDS = 5.0
"""For one environment to close: many have a simulator to end."""

AFTER_HANG_SECONDS = 0.1
"""For each further one in a process where one has taken too long; it ends with its process."""

warned: set[str] = set()
"""Environments whose failure to close has been told in this process; a worker holds `EVERY` one."""

hung: list[str] = []
"""Environments of this process whose ``close`` took too long."""

EVERY = ""
"""Stands for all names in `warned`."""


def close_safely(env: gymnasium.Env[Any, Any], name: str) -> None:
    """Let an environment's ``close`` run at most once and for a limited time; a failure of it is one warning.

    Args:
        env: The environment, whose ``close`` is replaced.
        name: For the warning.
    """
    setattr(env, "close", functools.partial(_close, [env.close], name))  # noqa: B010 - a method is replaced


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
        if not {name, EVERY} & warned:
            warned.add(name)
            sentence = clean_line(str(fault)).rstrip(".")
            print(f"promptpo: {sentence}; no result is affected.", file=sys.stderr, flush=True)
