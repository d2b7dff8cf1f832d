"""What a policy keeps in ``self.debug`` for whoever reads its episodes: a few numbers and short words.

Host and guest run the same code: the guest to take what there is, the host because the guest may lie.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from promptpo_sandbox.text import clean_line

MAX_ITEMS = 8
"""Entries that are kept."""

MAX_NAME, MAX_WORD = 24, 32
"""Characters of a name, and of a text."""

MAX_NUMBER = 2**53
"""Larger whole numbers are no measurements."""


def kept_in(policy: Any) -> dict[str, Any]:
    """What is of use in a policy's ``debug``; nothing where it has none, or reading it raises."""
    try:
        return plain(getattr(policy, "debug", None))
    except BaseException:  # noqa: BLE001 - a property is the policy's own code
        return {}


def plain(value: Any) -> dict[str, Any]:
    """The entries of a dict that are numbers or texts, the first few of them; nothing for any other value."""
    if type(value) is not dict:
        return {}
    kept: dict[str, Any] = {}
    for name, item in islice(value.items(), MAX_ITEMS):
        known = _plain(item)
        if type(name) is str and known is not None:
            kept[clean_line(name[:MAX_NAME])] = known
    return kept


def _plain(item: Any) -> Any:
    if type(item) is np.ndarray and item.size == 1 and item.dtype.kind in "biuf":
        item = item.reshape(-1)[0]
    if isinstance(item, np.generic) and type(item).__module__ == "numpy":
        item = item.item()
    if type(item) is int:
        return item if abs(item) <= MAX_NUMBER else None
    if type(item) is str:
        return clean_line(item[:MAX_WORD])
    return item if type(item) in {bool, float} else None
