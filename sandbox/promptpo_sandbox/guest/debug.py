"""The contents of ``self.debug``, for readers of a policy's episodes: a few numbers and short texts.

Host and guest run the same code: the guest to select the entries, the host because the guest may lie.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from promptpo_sandbox.guest.plain import encode
from promptpo_sandbox.guest.seen import select_plain
from promptpo_sandbox.guest.wire import MAX_DEBUG_BYTES

MAX_ITEMS = 8
"""Maximum number of entries."""

MAX_NAME, MAX_WORD = 24, 32
"""Maximum length of a name, and of a text, in characters."""


def encode_kept(policy: Any) -> bytes:
    """Encode the plain entries of a policy's ``debug``; empty if it has not set one itself, or if they are too long.

    Recording runs no code of the policy: neither a property nor ``__getattr__``.
    """
    try:
        kept_there = plain(object.__getattribute__(policy, "__dict__").get("debug"))
        data = encode(kept_there) if kept_there else b""
    except BaseException:  # noqa: BLE001 - the value is the policy's own
        return b""
    return data if len(data) <= MAX_DEBUG_BYTES else b""


def plain(value: Any) -> dict[str, Any]:
    """Return the first few entries of a dict that are numbers or texts; nothing for any other value."""
    found = {name[:MAX_NAME]: _single(item) for name, item in select_plain(value).items()}
    return dict(islice(((name, item) for name, item in found.items() if item is not None), MAX_ITEMS))


def _single(item: Any) -> Any:
    if type(item) is np.ndarray and item.size == 1:
        item = item.item()
    if type(item) is str:
        return item[:MAX_WORD]
    return item if type(item) in {bool, int, float} else None
