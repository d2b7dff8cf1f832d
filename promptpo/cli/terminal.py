"""The border to the terminal: what models, environments and files say is shown there as text, never obeyed.

With ``--json`` standard output belongs to one JSON value: everything else that prints there, environments
and their libraries included, goes to standard error.
"""

from __future__ import annotations

import io
import json
import os
import sys
from typing import Any, TextIO

from sandbox.text import clean


def say(text: str, *, error: bool = False) -> None:
    """Print a text of several lines, cleaned.

    Args:
        text: What to print.
        error: Print on standard error.
    """
    file = sys.stderr if error else sys.stdout
    encoding = getattr(file, "encoding", None) or "utf-8"
    # a terminal without a character is shown its number; the sentence must not end in an error
    print(clean(text).encode(encoding, "backslashreplace").decode(encoding), file=file, flush=True)


class _Reserved:
    """Standard output while it is kept for JSON."""

    def __init__(self) -> None:
        self.stdout: TextIO = sys.stdout
        self.for_json: TextIO = sys.stdout
        self.descriptor: int | None = None
        sys.stdout.flush()
        try:
            self.descriptor, errors = sys.stdout.fileno(), sys.stderr.fileno()
        except (io.UnsupportedOperation, AttributeError):
            pass  # no file behind it: nothing that a C library or another process could print to
        else:
            self.for_json = os.fdopen(os.dup(self.descriptor), "w", encoding="utf-8")
            os.dup2(errors, self.descriptor)
        sys.stdout = sys.stderr

    def give_back(self) -> None:
        """Undo it."""
        sys.stdout = self.stdout
        if self.descriptor is not None:
            os.dup2(self.for_json.fileno(), self.descriptor)
            self.for_json.close()


_reserved: list[_Reserved] = []


def reserve_for_json(wanted: bool) -> bool:
    """From now on standard output is for `print_json` only; what a flag's callback is, so it passes its value on."""
    if wanted and not _reserved:
        _reserved.append(_Reserved())
    return wanted


def release() -> None:
    """Give standard output back to everyone."""
    while _reserved:
        _reserved.pop().give_back()


def print_json(value: Any, *, indent: int | None = None) -> None:
    """Print one JSON value on standard output."""
    file = _reserved[-1].for_json if _reserved else sys.stdout
    print(json.dumps(value, indent=indent), file=file, flush=True)
