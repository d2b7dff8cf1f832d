"""Conversion of what ``act`` returned to an action of the action space, or to a message that says what is wrong.

A layout is a space as plain data: a tuple whose first item is its kind. Guest and host run the same
code: the guest to accept equivalent values (a list for an array, ``np.int64`` for ``int``) and to explain
errors, the host because the guest may lie.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

Layout: TypeAlias = tuple[Any, ...]

MAX_SAMPLE = 200
MAX_SEQUENCE = 4096
"""Items of an action of a Sequence space."""

_ADDRESS = re.compile(" at 0x[0-9a-f]+")
"""Addresses in texts, which differ from run to run."""

_SHORT_REPR = reprlib.Repr()
_SHORT_REPR.maxlevel = 4
_SHORT_REPR.maxlist = _SHORT_REPR.maxtuple = _SHORT_REPR.maxdict = _SHORT_REPR.maxset = (
    _SHORT_REPR.maxarray
) = 20
_SHORT_REPR.maxstring = _SHORT_REPR.maxother = _SHORT_REPR.maxlong = 2 * MAX_SAMPLE


class InvalidActionError(ValueError):
    """The value is not an action of the space."""


def sample(value: Any) -> str:
    """Return a short text for a value in a message; safe for any object."""
    try:
        if isinstance(value, np.ndarray):
            head = np.array2string(value.ravel()[:12], precision=4, separator=", ", threshold=12)
            text = f"array of shape {value.shape} and dtype {value.dtype} starting {head}"
        else:
            text = _SHORT_REPR.repr(value)
    except BaseException as error:  # noqa: BLE001 - the object's own repr is untrusted
        text = f"an object of type {type(value).__name__} whose repr raises {type(error).__name__}"
    text = _ADDRESS.sub("", text)
    return text if len(text) <= MAX_SAMPLE else text[:MAX_SAMPLE] + "…"


def describe(layout: Layout) -> str:
    """Describe the actions that a layout requires, in words."""
    kind = layout[0]
    if kind == "discrete":
        _, n, start = layout
        return f"an int from {start} to {start + n - 1}"
    if kind == "box":
        _, dtype, shape, low, high = layout
        return f"an array of shape {tuple(shape)} and dtype {np.dtype(dtype)}{_bounds_text(low, high)}"
    if kind == "text":
        _, shortest, longest, _charset = layout
        return f"a str of {shortest} to {longest} characters"
    if kind == "dict":
        return "a dict with " + ", ".join(f"{key!r}: {describe(item)}" for key, item in layout[1].items())
    if kind == "tuple":
        return "a tuple of (" + ", ".join(describe(item) for item in layout[1]) + ")"
    if kind == "oneof":
        return "a tuple (index, value) with one of " + ", ".join(describe(item) for item in layout[1])
    return "a tuple of any length, each item " + describe(layout[1])


def _bounds_text(low: Any, high: Any) -> str:
    lows, highs = np.unique(low), np.unique(high)
    if lows.size == 1 and highs.size == 1:
        return f" in [{lows[0]}, {highs[0]}]"
    if low.size <= 8:  # noqa: PLR2004
        return f" between {low.tolist()} and {high.tolist()}"
    return f" in [{lows[0]}, {highs[-1]}] (bounds differ by element)"


def values_in(layout: Layout) -> int:
    """Return the maximum number of values in an action of the space that is encoded as plain data, itself included."""
    kind = layout[0]
    if kind == "dict":
        return 1 + sum(1 + values_in(item) for item in layout[1].values())
    if kind == "tuple":
        return 1 + sum(values_in(item) for item in layout[1])
    if kind == "oneof":
        return 2 + max(values_in(item) for item in layout[1])
    if kind == "sequence":
        return 1 + MAX_SEQUENCE * values_in(layout[1])
    return 1


def coerce(layout: Layout, value: Any, *, bounds: bool = True) -> Any:
    """Return the action that a value stands for.

    Args:
        layout: The space.
        value: The return value of ``act``.
        bounds: Whether to check finiteness and bounds of arrays too.

    Raises:
        InvalidActionError: It is no action; the message says what was returned and what is expected.
    """
    try:
        return _COERCERS[layout[0]](layout, value, bounds)
    except InvalidActionError:
        raise
    except Exception as error:  # untrusted objects raise anything from anywhere
        raise wrong_action(layout, value) from error


def wrong_action(layout: Layout, value: Any, because: str = "") -> InvalidActionError:
    """Return an error that says what was returned, what is wrong with it, and what is expected."""
    reason = f" ({because})" if because else ""
    return InvalidActionError(
        f"act returned {sample(value)}{reason}; the action space wants {describe(layout)}"
    )


def _discrete(layout: Layout, value: Any, bounds: bool) -> int:
    number = integral(value)
    if number is None:
        raise wrong_action(layout, value)
    _, n, start = layout
    if bounds and not start <= number < start + n:
        raise wrong_action(layout, value)
    if not -(2**63) <= number < 2**63:
        raise wrong_action(layout, value)
    return number


def integral(value: Any) -> int | None:
    """Return the Python int that a value stands for, or None: ints, bools, whole floats, arrays of one of them."""
    if isinstance(value, np.ndarray):
        if value.size != 1 or value.dtype.kind not in "biuf":
            return None
        value = value.reshape(-1)[0]
    if isinstance(value, (bool, int, np.bool_, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return int(value)
    return None


def _box(layout: Layout, value: Any, bounds: bool) -> np.ndarray[Any, Any]:
    _, dtype_name, shape, low, high = layout
    dtype, shape = np.dtype(dtype_name), tuple(shape)
    if value is None or isinstance(value, (str, bytes, dict, set)):
        raise wrong_action(layout, value)
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise wrong_action(layout, value)
    if array.shape != shape:
        if array.size != 1 or low.size != 1:
            raise wrong_action(layout, value, f"its shape is {array.shape}")
        array = array.reshape(shape)  # a number for a space of one number
    with np.errstate(all="ignore"):
        result = array.astype(dtype)
        if dtype.kind in "iub" and not bool((result == array).all()):
            raise wrong_action(layout, value)
    if bounds:
        problem = box_problem(result, low, high)
        if problem:
            raise wrong_action(layout, value, problem)
    return result


def box_problem(array: np.ndarray[Any, Any], low: Any, high: Any) -> str:
    """Say what is wrong with the numbers of an array of the right shape; empty if nothing is."""
    if array.dtype.kind == "f" and not bool(np.isfinite(array).all()):
        return "it contains NaN or infinity"
    outside = (array < low) | (array > high)
    if bool(outside.any()):
        where = np.flatnonzero(outside)[0]
        return f"element {where} is {array.ravel()[where]:.6g}, out of bounds"
    return ""


def _text(layout: Layout, value: Any, _bounds: bool) -> str:
    _, shortest, longest, charset = layout
    if not isinstance(value, str) or not shortest <= len(value) <= longest:
        raise wrong_action(layout, value)
    if charset and not set(value) <= set(charset):
        raise wrong_action(layout, value, "it has characters that the space does not know")
    return str(value)


def _dict(layout: Layout, value: Any, bounds: bool) -> dict[str, Any]:
    items = layout[1]
    if not isinstance(value, dict) or set(value) != set(items):
        raise wrong_action(layout, value)
    return {key: coerce(item, value[key], bounds=bounds) for key, item in items.items()}


def _tuple(layout: Layout, value: Any, bounds: bool) -> tuple[Any, ...]:
    items = layout[1]
    if not isinstance(value, (tuple, list, np.ndarray)) or len(value) != len(items):
        raise wrong_action(layout, value)
    return tuple([coerce(item, part, bounds=bounds) for item, part in zip(items, value, strict=True)])


def _sequence(layout: Layout, value: Any, bounds: bool) -> Any:
    if not isinstance(value, (tuple, list, np.ndarray)):
        raise wrong_action(layout, value)
    if len(value) > MAX_SEQUENCE:
        raise wrong_action(layout, value, f"it has {len(value)} items, more than {MAX_SEQUENCE}")
    parts = tuple([coerce(layout[1], part, bounds=bounds) for part in value])
    return np.stack(parts) if layout[2] and parts else parts


def _oneof(layout: Layout, value: Any, bounds: bool) -> tuple[Any, Any]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:  # noqa: PLR2004
        raise wrong_action(layout, value)
    index = integral(value[0])
    if index is None or not 0 <= index < len(layout[1]):
        raise wrong_action(layout, value)
    return np.int64(index), coerce(layout[1][index], value[1], bounds=bounds)


_COERCERS: dict[str, Callable[[Layout, Any, bool], Any]] = {
    "discrete": _discrete,
    "box": _box,
    "text": _text,
    "dict": _dict,
    "tuple": _tuple,
    "sequence": _sequence,
    "oneof": _oneof,
}
