"""A recording: what a run asked a language model and what came back, in one compressed file."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

from promptpo.core.journal import JOURNAL, read_events
from promptpo.errors import RunError
from promptpo.run.origin import check_size

SUFFIX = ".jsonl.xz"
"""How the name of a recording ends, by which ``replay:`` knows it."""

RECORDED = ("prompt", "completion")


def recording(run: Path) -> bytes:
    """The prompts and answers of a run, as its journal has them, compressed.

    Prompts share most of their text; what repeats is stored once, since xz looks back as far as the file is long.

    Args:
        run: The run directory.

    Raises:
        RunError: It is no run, or no language model answered in it.
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
