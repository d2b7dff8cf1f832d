"""The border to the terminal: what models, environments and files say is shown there as text, never obeyed.

Where standard output is a document (``--json``, a spec), it belongs to that alone: everything else that prints
there, environments and their C libraries included, goes to standard error.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
import textwrap
from typing import Any, TextIO

from promptpo_sandbox.text import clean

COMMAND = re.compile(r"(?<=: )promptpo [^;]*$")
"""A command at the end of a line, which stays whole so that it can be copied."""


def wrapped(text: str, width: int) -> str:
    """A text whose long lines are broken between words; longer words, and commands to copy, stay whole."""
    lines = []
    for line in text.splitlines():
        if len(line) <= width:
            lines.append(line)
            continue
        indent = line[: len(line) - len(line.lstrip())]
        whole = COMMAND.sub(lambda found: found[0].replace(" ", "\0"), line)
        broken = textwrap.wrap(
            whole, width, subsequent_indent=indent + "  " if indent else "",
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
        lines += [part.replace("\0", " ") for part in broken]
    return "\n".join(lines)


def say(text: str, *, error: bool = False, prose: bool = False) -> None:
    """Print a text of several lines, cleaned.

    Args:
        text: What to print.
        error: Print on standard error.
        prose: Break long lines between words where it is shown on a terminal.
    """
    file = sys.stderr if error else sys.stdout
    encoding = getattr(file, "encoding", None) or "utf-8"
    # a terminal without a character is shown its number; the sentence must not end in an error
    shown = clean(text).encode(encoding, "backslashreplace").decode(encoding)
    if prose and file.isatty():
        shown = wrapped(shown, shutil.get_terminal_size().columns)
    print(shown, file=file, flush=True)


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
