"""The policy's own randomness: decided by the trial's seed, but not giving it away."""

from __future__ import annotations

import hashlib


def digest_of(seed: int) -> bytes:
    """32 bytes from which the guest seeds all random generators of one episode."""
    return hashlib.blake2b(str(int(seed)).encode(), digest_size=32, person=b"policy-random").digest()
