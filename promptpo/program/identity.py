"""Short names for texts."""

from __future__ import annotations

import hashlib


def text_digest(text: str) -> str:
    """A short name for a text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
