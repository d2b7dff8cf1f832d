"""Replies of a guest: chunks that account for lanes, each in one piece with the chunks that belong to it."""

from __future__ import annotations

import os

from promptpo_sandbox.guest import wire
from promptpo_sandbox.guest.plain import encode
from promptpo_sandbox.guest.wire import WRITE, message

MAX_TEXT = 8000


class Outbox:
    """Writes to the host.

    Host and guest take turns, and the host's turn begins with the chunk that accounts for the last lane. Nothing may
    follow that chunk; so chunks that account for no lane wait here and are written before the next one that does.
    """

    def __init__(self) -> None:
        self._asides: list[bytes] = []

    def add_aside(self, kind: int, data: bytes, lane: int) -> None:
        """Hold back a chunk that accounts for no lane."""
        self._asides.append(message(kind, data, lane))

    def account(self, kind: int, data: bytes = b"", lanes: int = 1) -> None:
        """Write the chunks held back and one that accounts for lanes."""
        chunk = message(kind, data, lanes)
        if self._asides:
            chunk = b"".join([*self._asides, chunk])
            self._asides.clear()
        sent = os.write(WRITE, chunk)
        while sent < len(chunk):
            chunk = chunk[sent:]
            sent = os.write(WRITE, chunk)

    def fail(self, kind: str, text: str, detail: str) -> None:
        """Account for one lane with its failure, its texts cut to `MAX_TEXT`."""
        self.account(wire.FAILED, encode((kind, text[:MAX_TEXT], detail[:MAX_TEXT])))
