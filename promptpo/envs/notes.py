"""Notes on environments for the user, each once in a process; workers are silent, for their parent has told it."""

from __future__ import annotations

import sys

from promptpo_sandbox.text import clean_line

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
