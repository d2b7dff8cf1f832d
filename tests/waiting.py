"""Waiting for what another process or thread does, however busy the machine is."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def wait_until(happened: Callable[[], object], process: Any = None) -> None:
    """Return once something has happened.

    Raises:
        AssertionError: It did not within 100 seconds, or the process that should do it ended before.
    """
    end = time.monotonic() + 100
    while not happened():
        over = process is not None and process.poll() is not None
        if over or time.monotonic() > end:
            assert happened(), "its process ended before it" if over else "it never came"
        time.sleep(0.02)


def says(path: Path, word: str) -> bool:
    """Whether a file is there and has a word in it."""
    return path.exists() and word in path.read_text(encoding="utf-8")
