"""Seeds of a policy's own random numbers: derived from the trial's seed without revealing it."""

from __future__ import annotations

import hashlib


def digest_of(seed: int) -> bytes:
    """Return 32 bytes from which the guest seeds all random generators of one episode."""
    return hashlib.blake2b(str(int(seed)).encode(), digest_size=32, person=b"policy-random").digest()
