"""Results of a policy's ``perceive``, recorded instead of observations.

Host and guest run the same code: the guest to select the entries, the host because the guest may lie.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from promptpo_sandbox.guest.plain import encode
from promptpo_sandbox.guest.wire import MAX_SEEN_BYTES
from promptpo_sandbox.text import clean_line

MAX_NUMBER = 2**53
"""Maximum magnitude of an integer; a larger one is no measurement."""

MAX_ITEMS = 32
"""Maximum number of entries of the dict, and of a list or dict inside it."""

MAX_NUMBERS = 64
"""Maximum size of an array."""

MAX_DEPTH = 3
"""Maximum nesting of lists and dicts."""

MAX_DICT_VALUES = 2048
"""Maximum number of values in one dict, nested ones included."""

MAX_NAME, MAX_WORD = 40, 80
"""Maximum length of a name, and of a text, in characters."""


def select_plain(value: Any) -> dict[str, Any]:
    """Return the plain entries of a dict: numbers, texts, None, and small arrays, lists, tuples and dicts of them.

    Lists become tuples, as in observations. Empty for any other value.
    """
    found = _plain(value, 0) if type(value) is dict else {}
    return found if type(found) is dict else {}


def encode_seen(value: Any) -> bytes:
    """Encode a result of a policy's ``perceive``; empty if it is None, too long or cannot be read."""
    if value is None:
        return b""
    try:
        data = encode(select_plain(value))
    except BaseException:  # noqa: BLE001 - the value is the policy's own
        return b""
    return data if len(data) <= MAX_SEEN_BYTES else b""


def watch(policy: Any, note: Callable[[Any], None]) -> None:
    """Call `note` with every result of a policy's ``perceive``, if its class has one.

    Args:
        policy: A policy whose module no other lane shares.
        note: Receives the result.
    """
    kind = type(policy)
    perceive = getattr(kind, "perceive", None)
    if not callable(perceive) or not isinstance(kind, type):
        return

    def perceive_and_note(*args: Any, **kwargs: Any) -> Any:
        value = perceive(*args, **kwargs)
        note(value)
        return value

    own = inspect.getattr_static(kind, "perceive")
    takes_self = hasattr(own, "__get__") and not isinstance(own, staticmethod | classmethod)
    kind.perceive = perceive_and_note if takes_self else staticmethod(perceive_and_note)


def _plain(item: Any, depth: int) -> Any:
    """Return the plain form of an item; NotImplemented if it is left out."""
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
