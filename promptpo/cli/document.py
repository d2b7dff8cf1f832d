"""Standard output for one document.

Where standard output is a document (``--json``, a spec), it belongs to that alone: everything else that prints
there goes to standard error. What environments print goes there in any case (`promptpo.crash_report`).
"""

from __future__ import annotations

import io
import json
import sys
from typing import Any, TextIO

from promptpo.display.saying import say

_reserved: list[TextIO] = []


def reserve_for_json(wanted: bool) -> bool:
    """From now on standard output is for `print_json` only; what a flag's callback is, so it passes its value on."""
    if wanted and not _reserved:
        _reserved.append(sys.stdout)
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
        sys.stdout = sys.stderr
    return wanted


def standard_output() -> TextIO:
    """Where a command's own document goes."""
    return _reserved[-1] if _reserved else sys.stdout


def release() -> None:
    """Give standard output back to everyone."""
    while _reserved:
        sys.stdout = _reserved.pop()


def print_json(value: Any, *, indent: int | None = None) -> None:
    """Print one JSON value on standard output."""
    print(json.dumps(value, indent=indent), file=standard_output(), flush=True)


def answer(value: Any, text: str, *, as_json: bool) -> None:
    """Print what a command has found: as JSON where that is wanted, else in words."""
    if as_json:
        print_json(value)
    else:
        say(text)
