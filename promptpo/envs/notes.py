"""Notes on environments for the user, each once per process; workers' notes are dropped, since their parent prints them."""

from __future__ import annotations

import sys

from promptpo_sandbox.text import clean_line

_printed_keys: set[str] = set()


def note_once(key: str, sentence: str) -> None:
    """Print a sentence unless one with the same key was printed before."""
    if key not in _printed_keys:
        _printed_keys.add(key)
        print(f"promptpo: {clean_line(sentence)}", file=sys.stderr, flush=True)
