"""Standard output for one document.

Where standard output is a document (``--json``, a spec), it belongs to that alone: everything else that prints
there, environments and their C libraries included, goes to standard error.
"""

from __future__ import annotations

import io
import json
import os
import sys
from typing import Any, TextIO

from promptpo.display.saying import say


class _Reserved:
    """Standard output while it is kept for one document."""

    def __init__(self) -> None:
        self.stdout: TextIO = sys.stdout
        self.document: TextIO = sys.stdout
        self.descriptor: int | None = None
        sys.stdout.flush()
        try:
            self.descriptor, errors = sys.stdout.fileno(), sys.stderr.fileno()
        except (io.UnsupportedOperation, AttributeError):
            pass  # no file behind it: nothing that a C library or another process could print to
        else:
            self.document = os.fdopen(os.dup(self.descriptor), "w", encoding="utf-8")
            os.dup2(errors, self.descriptor)
        sys.stdout = sys.stderr

    def give_back(self) -> None:
        """Undo it."""
        sys.stdout = self.stdout
        if self.descriptor is not None:
            os.dup2(self.document.fileno(), self.descriptor)
            self.document.close()


_reserved: list[_Reserved] = []


def reserve_for_json(wanted: bool) -> bool:
    """From now on standard output is for `print_json` only; what a flag's callback is, so it passes its value on."""
    if wanted:
        reserve_standard_output()
    return wanted


def reserve_standard_output() -> None:
    """From now on standard output is for what is printed to `standard_output`."""
    if not _reserved:
        _reserved.append(_Reserved())


def standard_output() -> TextIO:
    """Where a command's own document goes."""
    return _reserved[-1].document if _reserved else sys.stdout


def release() -> None:
    """Give standard output back to everyone."""
    while _reserved:
        _reserved.pop().give_back()


def print_json(value: Any, *, indent: int | None = None) -> None:
    """Print one JSON value on standard output."""
    print(json.dumps(value, indent=indent), file=standard_output(), flush=True)


def answer(value: Any, text: str, *, as_json: bool) -> None:
    """Print what a command has found: as JSON where that is wanted, else in words."""
    if as_json:
        print_json(value)
    else:
        say(text)
