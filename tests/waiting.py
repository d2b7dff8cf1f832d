"""Waiting for what another process or thread does, however busy the machine is."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def wait_until(condition: Callable[[], object], process: Any = None) -> None:
    """Wait until a condition holds.

    Raises:
        AssertionError: It does not within 100 seconds, or the process responsible for it has ended.
    """
    end = time.monotonic() + 100
    while not condition():
        over = process is not None and process.poll() is not None
        if over or time.monotonic() > end:
            assert condition(), "its process ended before it" if over else "it never came"
        time.sleep(0.02)


def says(path: Path, word: str) -> bool:
    """Return whether a file exists and contains a word."""
    return path.exists() and word in path.read_text(encoding="utf-8")


def is_running(pid: int) -> bool:
    """Return whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
