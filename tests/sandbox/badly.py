"""Functions for a reader that do what reading must not."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any


def good(text: str) -> Any:
    """The text, and numbers."""
    return text.upper(), {"a": 1.5}


def hang(_text: str) -> None:
    """Never answer."""
    while True:
        pass


def hoard(_text: str) -> int:
    """Take all memory that there is."""
    kept = [bytearray(1 << 20) for _ in range(1 << 16)]
    return len(kept)


def die(_text: str) -> None:
    """End the process as a broken parser would."""
    os.kill(os.getpid(), signal.SIGSEGV)
    os._exit(1)


def recurse(text: str) -> Any:
    """Recurse without end."""
    return recurse(text)


def flood(_text: str) -> list[int]:
    """More values than an answer may have."""
    return [1] * 300_000


def odd(_text: str) -> Any:
    """What is no plain data."""
    return sys


def look(path: str) -> str:
    """Open a file."""
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - as untrusted code would
        return file.read()
