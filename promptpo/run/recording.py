"""Recordings: a run's requests to language models and their answers, in one compressed file."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

from promptpo.core.journal import JOURNAL, read_events
from promptpo.errors import RunError
from promptpo.run.origin import check_size

SUFFIX = ".jsonl.xz"
"""File name ending of recordings, which ``replay:`` recognises."""

RECORDED = ("prompt", "completion")


def recording(run: Path) -> bytes:
    """Return the prompts and answers in a run's journal, compressed.

    Prompts share most of their text, which is stored once: xz looks back over the whole file.

    Args:
        run: The run directory.

    Raises:
        RunError: It is no run, or has no answers of a language model.
    """
    check_size(run)
    kept = [event for event in read_events(run / JOURNAL) if event.kind in RECORDED]
    if not any(event.kind == "completion" for event in kept):
        raise RunError(f"{run} has no answers to record.")
    lines = (
        json.dumps({"kind": event.kind, "key": event.key, "data": event.data}, ensure_ascii=True)
        for event in kept
    )
    return lzma.compress("\n".join(lines).encode() + b"\n", preset=9)
