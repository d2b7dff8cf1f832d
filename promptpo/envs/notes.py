"""Notes on environments for the user, each once in a process; those of workers go nowhere, for their parent has told them."""

from __future__ import annotations

import sys

from promptpo_sandbox.text import clean_line

_told: set[str] = set()


def note_once(key: str, sentence: str) -> None:
    """Tell a sentence unless one with the same key was told before."""
    if key not in _told:
        _told.add(key)
        print(f"promptpo: {clean_line(sentence)}", file=sys.stderr, flush=True)
