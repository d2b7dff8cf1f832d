"""Journals as tests look at them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from promptpo.run.journal import JOURNAL, Event, read_events


def read_run(directory: Path) -> Mapping[str, list[Event]]:
    """The events of a run by kind."""
    by_kind: dict[str, list[Event]] = {}
    for event in read_events(directory / JOURNAL):
        by_kind.setdefault(event.kind, []).append(event)
    return by_kind
