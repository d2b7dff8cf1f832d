"""Notes on environments for the user, each once in a process; workers are silent, for their parent has told it."""

from __future__ import annotations

import sys
from typing import Any

from promptpo_sandbox.text import clean_line

MAX_PRINTED_LINES = 10
"""Lines of an environment's own output that are passed on."""

_told: set[str] = set()
_silent: list[bool] = []


def silence() -> None:
    """Tell nothing in this process."""
    _silent.append(True)


def note_once(key: str, sentence: str) -> None:
    """Tell a sentence unless one with the same key was told before."""
    if key not in _told and not _silent:
        _told.add(key)
        print(f"promptpo: {clean_line(sentence)}", file=sys.stderr, flush=True)


class FirstLines:
    """A stream's first lines; what is written after them is dropped.

    Args:
        stream: Where they go.
    """

    def __init__(self, stream: Any) -> None:
        self._stream, self.left = stream, MAX_PRINTED_LINES

    def write(self, text: str) -> int:
        """Pass on what is left of the lines."""
        lines = text.splitlines(keepends=True)
        self._stream.write("".join(lines[: max(0, self.left)]))
        self.left -= text.count("\n")
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
