"""The messages between host and guest: an 8-byte header and a payload.

Host and guest take turns. The host sends one message; the guest answers with chunks that together
account for every lane the message was about. A chunk has the same header.
"""

from __future__ import annotations

import struct

READ, WRITE = 0, 3
"""The guest's descriptors. Libraries may write to 1 and 2, which lead nowhere."""

HEADER = struct.Struct("<BBHI")
"""Kind, flags (unused, zero), count of lanes, bytes of payload."""

# host to zygote and back
REQUEST = struct.Struct("<ch")
"""What to do, and the core to run on (-1: any)."""
FORKED = struct.Struct("<q")
ENDED = struct.Struct("<qd")
"""Wait status, CPU seconds."""

# host to guest
LOAD = 1
"""Check and compile a source: plain data, see `promptpo_sandbox.guest.loop`."""
LANES = 2
"""Stop and start lanes: plain data."""
STEP_FIXED = 3
"""Observations of all running lanes as raw rows of one dtype and shape, in lane order."""
STEP_PLAIN = 4
"""Observations of all running lanes as one list in plain data."""
ASK = 5
"""Request plain data from the module or a reader: kind and arguments; see `promptpo_sandbox.asked`."""
LAYOUT = 6
"""The dtype and shape of the rows that follow: plain data; not answered."""

# guest to host
READY = 32
"""The source was accepted, with its code for later guests; or `count` lanes were started."""
ACTIONS = 33
"""The next `count` lanes' actions: raw rows, or a list in plain data."""
FAILED = 34
"""The next lane (or the source) failed: plain data (kind, message, detail)."""
OUTPUT = 35
"""Text printed by lane number `count`; accounts for no lane."""
ANSWER = 36
"""The answer to `ASK`: plain data."""
DEBUG = 37
"""The ``debug`` of the policy in lane number `count`: plain data; accounts for no lane."""

MAX_DEBUG_BYTES = 2048  # of one such message

MAX_SEEN_BYTES = 16384
"""Maximum payload of a `SEEN` message."""

SEEN = 40
"""The latest result of ``perceive`` in lane number `count` in this step: plain data; accounts for no lane."""


def message(kind: int, payload: bytes = b"", count: int = 0) -> bytes:
    """Return one message or chunk."""
    return HEADER.pack(kind, 0, count, len(payload)) + payload
