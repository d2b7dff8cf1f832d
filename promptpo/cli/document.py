"""Keep standard output for one document.

If standard output is a document (``--json``, a spec), all other output goes to standard error. The output of
environments goes there in any case (`promptpo.crash_report`).
"""

from __future__ import annotations

import io
import json
import sys
from typing import Any, TextIO

from promptpo.display.console import say

_reserved: list[TextIO] = []


def reserve_for_json(wanted: bool) -> bool:
    """Reserve standard output for `print_json` if `wanted`; return `wanted`, as a flag's callback must."""
    if wanted and not _reserved:
        _reserved.append(sys.stdout)
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
        sys.stdout = sys.stderr
    return wanted


def standard_output() -> TextIO:
    """Return the stream for a command's own document."""
    return _reserved[-1] if _reserved else sys.stdout


def release() -> None:
    """Restore standard output."""
    while _reserved:
        sys.stdout = _reserved.pop()


def print_json(value: Any, *, indent: int | None = None) -> None:
    """Print one JSON value on standard output."""
    print(json.dumps(value, indent=indent), file=standard_output(), flush=True)


def answer(value: Any, text: str, *, as_json: bool) -> None:
    """Print a command's result, as JSON or as text."""
    if as_json:
        print_json(value)
    else:
        say(text)
