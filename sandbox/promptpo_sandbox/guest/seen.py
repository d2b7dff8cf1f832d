"""Results of a policy's ``perceive``, recorded in the place of observations.

Host and guest run the same code: the guest to take what there is, the host because the guest may lie.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from promptpo_sandbox.guest.plain import encode
from promptpo_sandbox.guest.wire import MAX_SEEN_BYTES
from promptpo_sandbox.text import clean_line

MAX_NUMBER = 2**53
"""Larger whole numbers are no measurements."""

MAX_ITEMS = 32
"""Entries of the dict that are kept, and of a list or dict in it."""

MAX_NUMBERS = 64
"""Numbers of an array that is kept."""

MAX_DEPTH = 3
"""Of lists and dicts inside each other."""

MAX_DICT_VALUES = 2048
"""Values of one dict in all."""

MAX_NAME, MAX_WORD = 40, 80
"""Characters of a name, and of a text."""


def select_plain(value: Any) -> dict[str, Any]:
    """The entries of a dict that are plain: numbers, texts, None, and small arrays, lists, tuples and dicts of them.

    Lists become tuples, as an observation has them. Nothing for any other value.
    """
    found = _plain(value, 0) if type(value) is dict else {}
    return found if type(found) is dict else {}


def encode_seen(value: Any) -> bytes:
    """Encode what a policy's ``perceive`` has returned; nothing where that is None, too long or cannot be read."""
    if value is None:
        return b""
    try:
        data = encode(select_plain(value))
    except BaseException:  # noqa: BLE001 - the value is the policy's own
        return b""
    return data if len(data) <= MAX_SEEN_BYTES else b""


def watch(policy: Any, note: Callable[[Any], None]) -> None:
    """Have `note` called with all that the policy's ``perceive`` returns, where its class has one.

    Args:
        policy: Of a module of its own, as every lane's is.
        note: Takes a value.
    """
    kind = type(policy)
    perceive = getattr(kind, "perceive", None)
    if not callable(perceive) or not isinstance(kind, type):
        return

    def perceive_and_note(*args: Any, **kwargs: Any) -> Any:
        value = perceive(*args, **kwargs)
        note(value)
        return value

    own = next(vars(base)["perceive"] for base in kind.__mro__ if "perceive" in vars(base))
    bound = isinstance(own, staticmethod | classmethod)
    kind.perceive = staticmethod(perceive_and_note) if bound else perceive_and_note


def _plain(item: Any, depth: int) -> Any:
    """The item as it is kept; NotImplemented for what is not."""
    if isinstance(item, np.generic) and type(item).__module__ == "numpy":
        item = item.item()
    if item is None or type(item) in {bool, float}:
        return item
    if type(item) is int:
        return item if abs(item) <= MAX_NUMBER else NotImplemented
    if type(item) is str:
        return clean_line(item[:MAX_WORD])[:MAX_WORD]
    if type(item) is np.ndarray:
        return item.copy() if item.dtype.kind in "biuf" and item.size <= MAX_NUMBERS else NotImplemented
    if depth >= MAX_DEPTH:
        return NotImplemented
    if type(item) is dict:
        pairs = (
            (clean_line(name[:MAX_NAME])[:MAX_NAME], _plain(part, depth + 1))
            for name, part in islice(item.items(), MAX_ITEMS)
            if type(name) is str
        )
        return {name: part for name, part in pairs if part is not NotImplemented}
    if type(item) in {list, tuple}:
        parts = [_plain(part, depth + 1) for part in item[:MAX_ITEMS]]
        return tuple(part for part in parts if part is not NotImplemented)
    return NotImplemented
