"""Trace which functions an environment's step and reset call."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

from promptpo.envs.contract import ContractEnv

CallRanks = dict[tuple[str, int], int]
"""Module and first line of a function that was called, to its index in `ROOTS`: by a step, or by a reset alone."""

ROOTS = ("step", "reset")
"""Methods of an environment that a run calls."""

MAY_RUN = 2
"""Rank of what is named but was not called."""

DRAWING = re.compile(r"_*(?:render|close)(?:_|$)")
"""Rendering methods."""

_ROOT_CODES = {getattr(ContractEnv, root).__code__: rank for rank, root in enumerate(ROOTS)}


@contextlib.contextmanager
def trace_calls(called: CallRanks) -> Iterator[None]:
    """Add the functions that steps and resets of a `ContractEnv` call inside, in this thread, except to render."""
    now, met = MAY_RUN, set[tuple[CodeType, int]]()

    def note(frame: FrameType, event: str, _: Any) -> None:
        nonlocal now
        if event == "call":
            now = _ROOT_CODES.get(frame.f_code, now)
            if now < MAY_RUN and (frame.f_code, now) not in met:
                met.add((frame.f_code, now))
                if not _is_drawing(frame):
                    key = frame.f_globals.get("__name__", ""), frame.f_code.co_firstlineno
                    called[key] = min(now, called.get(key, now))
        elif event == "return" and frame.f_code in _ROOT_CODES:
            now = MAY_RUN

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)


def _is_drawing(frame: FrameType | None) -> bool:
    """Return whether a function was called, directly or not, by one that renders."""
    while frame is not None and frame.f_code not in _ROOT_CODES:
        if DRAWING.match(frame.f_code.co_name):
            return True
        frame = frame.f_back
    return False
