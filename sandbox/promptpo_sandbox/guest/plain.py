"""A bounded encoding of plain data, for values without a fixed layout. Decoding runs no code.

Each value is one tag byte and its content. Integers beyond 64 bits travel as text; arrays as dtype, shape and raw
bytes. Data from the other side is never trusted: every length is checked against the bytes that are left, nesting is
bounded, and anything malformed is a `PlainDataError`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

MAX_DEPTH = 32
MAX_INTEGER_DIGITS = 4000
MAX_EMPTY_ITEMS = 4096
MAX_KEY = 2**31
ARRAY_KINDS = "biufcUS"

_I64 = struct.Struct("<q")
_F64 = struct.Struct("<d")
_U32 = struct.Struct("<I")
_I64_MIN, _I64_MAX = -(2**63), 2**63 - 1


class PlainDataError(ValueError):
    """The value cannot be encoded, or the bytes are not an encoding."""


def encode(value: Any) -> bytes:
    """Encode a value.

    Raises:
        PlainDataError: The value holds something that is not plain data, or is nested too deeply.
    """
    parts: list[bytes] = []
    _encode(value, parts.append, 0)
    return b"".join(parts)


def _encode(value: Any, put: Callable[[bytes], None], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise PlainDataError(f"data nested deeper than {MAX_DEPTH} levels cannot cross the border")
    kind = type(value)
    writer = _WRITERS.get(kind)
    if writer is not None:
        writer(value, put, depth)
    elif isinstance(value, np.generic):
        _encode_scalar(value, put, depth)
    else:
        for base in (bool, int, float, str, bytes, list, tuple, dict, np.ndarray):
            if isinstance(value, base):
                _WRITERS[base](value, put, depth)
                return
        if value is None:
            put(b"N")
            return
        raise PlainDataError(f"a value of type {kind.__name__} cannot cross the border")


def _encode_scalar(value: np.generic, put: Callable[[bytes], None], depth: int) -> None:
    item = value.item()
    if isinstance(item, complex) or item is value or not isinstance(item, (bool, int, float, str, bytes)):
        _put_array(np.asarray(value), put, depth)
    else:
        _encode(item, put, depth)


def _put_int(value: int, put: Callable[[bytes], None], _depth: int) -> None:
    if _I64_MIN <= value <= _I64_MAX:
        put(b"i" + _I64.pack(value))
        return
    try:
        text = str(int(value)).encode()
    except ValueError as error:
        raise PlainDataError("an integer of thousands of digits cannot cross the border") from error
    if len(text) > MAX_INTEGER_DIGITS:
        raise PlainDataError("an integer of thousands of digits cannot cross the border")
    put(b"I" + _U32.pack(len(text)) + text)


def _put_text(value: str, put: Callable[[bytes], None], _depth: int) -> None:
    data = value.encode("utf-8", "surrogatepass")
    put(b"s" + _U32.pack(len(data)) + data)


def _put_array(value: np.ndarray[Any, Any], put: Callable[[bytes], None], _depth: int) -> None:
    dtype = value.dtype
    if dtype.kind not in ARRAY_KINDS:
        raise PlainDataError(f"an array of dtype {dtype} cannot cross the border")
    if not dtype.isnative:
        value = value.astype(dtype.newbyteorder("="))
    name = value.dtype.str.encode()
    head = struct.pack(f"<BB{value.ndim}Q", len(name), value.ndim, *value.shape)
    put(b"a" + head + name)
    put(value.tobytes())


def _put_sequence(tag: bytes) -> Callable[[Any, Callable[[bytes], None], int], None]:
    def write(value: Any, put: Callable[[bytes], None], depth: int) -> None:
        put(tag + _U32.pack(len(value)))
        for item in value:
            _encode(item, put, depth + 1)

    return write


def _put_dict(value: dict[Any, Any], put: Callable[[bytes], None], depth: int) -> None:
    put(b"d" + _U32.pack(len(value)))
    for key, item in value.items():
        _encode(key, put, depth + 1)
        _encode(item, put, depth + 1)


_WRITERS: dict[type, Callable[[Any, Callable[[bytes], None], int], None]] = {
    type(None): lambda _value, put, _depth: put(b"N"),
    bool: lambda value, put, _depth: put(b"T" if value else b"F"),
    int: _put_int,
    float: lambda value, put, _depth: put(b"f" + _F64.pack(value)),
    str: _put_text,
    bytes: lambda value, put, _depth: put(b"b" + _U32.pack(len(value)) + value),
    np.ndarray: _put_array,
    list: _put_sequence(b"l"),
    tuple: _put_sequence(b"t"),
    dict: _put_dict,
}


MAX_UNTRUSTED_VALUES = 1 << 22
"""Maximum number of values in untrusted bytes, unless the caller knows how many there can be."""


def decode(data: bytes, *, max_values: int = MAX_UNTRUSTED_VALUES, trusted: bool = False) -> Any:
    """Decode a value; arrays are fresh and writable.

    Args:
        data: The encoding.
        max_values: Maximum number of values, so that time and memory are bounded; keys of dicts must be text or small
            integers, whose hashes cannot be made to collide.
        trusted: Whether these bounds do not apply: for data that this project, and nobody else, can have written.

    Raises:
        PlainDataError: The bytes are not the encoding of one value, or of too many.
    """
    reader = _Reader(data, None if trusted else max_values)
    try:
        value = reader.value(0)
    except PlainDataError:
        raise
    except (struct.error, ValueError, TypeError, OverflowError, MemoryError, IndexError) as error:
        raise PlainDataError(f"broken data: {error}") from error
    if reader.at != len(data):
        raise PlainDataError("broken data: bytes are left over")
    return value


class _Reader:
    """Reads values from bytes."""

    def __init__(self, data: bytes, max_values: int | None) -> None:
        self.data = data
        self.at = 0
        self.wary = max_values is not None
        self.left = len(data) if max_values is None else max_values

    def take(self, n: int) -> bytes:
        end = self.at + n
        if n < 0 or end > len(self.data):
            raise PlainDataError("broken data: it ends early")
        piece = self.data[self.at : end]
        self.at = end
        return piece

    def length(self) -> int:
        """Read a number of items or bytes; at most the bytes that are left, since each item takes one."""
        n: int = _U32.unpack(self.take(4))[0]
        if n > len(self.data) - self.at:
            raise PlainDataError("broken data: a length is too large")
        return n

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise PlainDataError("broken data: nested too deeply")
        self.left -= 1
        if self.left < 0:
            raise PlainDataError("broken data: too many values")
        tag = self.take(1)
        reader = _READERS.get(tag)
        if reader is None:
            raise PlainDataError(f"broken data: unknown tag {tag!r}")
        return reader(self, depth)

    def big_integer(self) -> int:
        text = self.take(self.length())
        if len(text) > MAX_INTEGER_DIGITS or not text.removeprefix(b"-").isdigit():
            raise PlainDataError("broken data: not an integer")
        return int(text)

    def array(self) -> np.ndarray[Any, Any]:
        name_length, ndim = struct.unpack("<BB", self.take(2))
        if ndim > MAX_DEPTH:
            raise PlainDataError("broken data: too many dimensions")
        shape = struct.unpack(f"<{ndim}Q", self.take(8 * ndim))
        dtype = _dtype(self.take(name_length))
        size = dtype.itemsize
        for n in shape:
            size *= n
        if dtype.itemsize == 0:
            if math.prod(shape) > MAX_EMPTY_ITEMS:
                raise PlainDataError("broken data: an array is too large")
            return np.zeros(shape, dtype)
        raw = self.take(size)
        return np.frombuffer(raw, dtype).reshape(shape).copy()

    def mapping(self, depth: int) -> dict[Any, Any]:
        pairs = [(self.key(depth + 1), self.value(depth + 1)) for _ in range(self.length())]
        return dict(pairs)

    def key(self, depth: int) -> Any:
        key = self.value(depth)
        if self.wary and not (type(key) is str or (type(key) is int and abs(key) < MAX_KEY)):
            raise PlainDataError("broken data: a key is neither text nor a small integer")
        return key


_DTYPES: dict[bytes, np.dtype[Any]] = {}


def _dtype(name: bytes) -> np.dtype[Any]:
    known = _DTYPES.get(name)
    if known is not None:
        return known
    text = name.decode("ascii")
    if len(text) < 3 or text[0] not in "<|=>" or text[1] not in ARRAY_KINDS or not text[2:].isdigit():  # noqa: PLR2004
        raise PlainDataError("broken data: not a dtype")
    dtype = np.dtype(text)
    if dtype.str.encode() == name and len(_DTYPES) < 64:  # noqa: PLR2004 - a bound against a flood of names
        _DTYPES[name] = dtype
    return dtype


_READERS: dict[bytes, Callable[[_Reader, int], Any]] = {
    b"N": lambda _reader, _depth: None,
    b"T": lambda _reader, _depth: True,
    b"F": lambda _reader, _depth: False,
    b"i": lambda reader, _depth: _I64.unpack(reader.take(8))[0],
    b"I": lambda reader, _depth: reader.big_integer(),
    b"f": lambda reader, _depth: _F64.unpack(reader.take(8))[0],
    b"s": lambda reader, _depth: reader.take(reader.length()).decode("utf-8", "surrogatepass"),
    b"b": lambda reader, _depth: reader.take(reader.length()),
    b"a": lambda reader, _depth: reader.array(),
    b"l": lambda reader, depth: [reader.value(depth + 1) for _ in range(reader.length())],
    b"t": lambda reader, depth: tuple([reader.value(depth + 1) for _ in range(reader.length())]),
    b"d": lambda reader, depth: reader.mapping(depth),
}
