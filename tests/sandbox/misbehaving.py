"""Functions with which a reader must cope: some misbehave, one is good."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any


def good(text: str) -> Any:
    """Return the text in capitals, and numbers."""
    return text.upper(), {"a": 1.5}


def hang(_text: str) -> None:
    """Never answer."""
    while True:
        pass


def hoard(_text: str) -> int:
    """Allocate all available memory."""
    blocks = [bytearray(1 << 20) for _ in range(1 << 16)]
    return len(blocks)


def die(_text: str) -> None:
    """End the process as a broken parser would."""
    os.kill(os.getpid(), signal.SIGSEGV)
    os._exit(1)


def recurse(text: str) -> Any:
    """Recurse without end."""
    return recurse(text)


def flood(_text: str) -> list[int]:
    """Return more values than an answer may have."""
    return [1] * 300_000


def odd(_text: str) -> Any:
    """Return something other than plain data."""
    return sys


def look(path: str) -> str:
    """Open a file."""
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - as untrusted code would
        return file.read()
