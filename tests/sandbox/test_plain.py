"""The encoding of plain data is lossless, and no input can do harm."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from promptpo_sandbox.guest.plain import PlainDataError, decode, encode

ARRAYS = hnp.arrays(
    st.sampled_from(["?", "<i1", "<i8", "<u2", "<f4", "<f8", "<c16"]),
    hnp.array_shapes(min_dims=0, max_dims=4, min_side=0),
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**200), 2**200)
    | st.floats()
    | st.text()
    | st.binary()
    | ARRAYS
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text() | st.integers(), inner)
    ),
    max_leaves=20,
)


def same(a: Any, b: Any) -> bool:
    """Return whether values are equal in type and content; NaN equals itself."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b) or (a != a and b != b)


@given(VALUES)
def test_decoding_inverts_encoding(value: Any) -> None:
    assert same(decode(encode(value), trusted=True), value)


@given(st.binary(max_size=200))
@example(b"l\xff\xff\xff\xff")
@example(b"a\x03\x02" + b"\xff" * 16 + b"<f8")
@example(b"a\x03\x01" + (8).to_bytes(8, "little") + b"|O8")
@example(b"I\x02\x00\x00\x00-x")
@example(b"a\x03\x02" + struct.pack("<2Q", 0, 2**63) + b"|b1")
@example(b"t\x01\x00\x00\x00" * 40 + b"N")
@example(b"d\x01\x00\x00\x00l\x00\x00\x00\x00N")
@settings(max_examples=200)
def test_any_bytes_decode_or_are_refused(data: bytes) -> None:
    """All refusals have the same type of error."""
    try:
        value = decode(data)
    except PlainDataError:
        return
    encode(value)


@pytest.mark.slow
@given(VALUES, st.data())
@settings(max_examples=150)
def test_damaged_encoding_is_decoded_or_refused(value: Any, data: st.DataObject) -> None:
    """One byte is changed, cut off or added."""
    raw = bytearray(encode(value))
    position = data.draw(st.integers(0, len(raw) - 1))
    raw[position] = data.draw(st.integers(0, 255))
    for damaged in (bytes(raw), bytes(raw[:position]), bytes(raw) + b"N"):
        try:
            decode(damaged)
        except PlainDataError:
            continue


UNENCODABLE = {
    "object": object(),
    "set": {1, 2},
    "objects": np.array([object()]),
    "complex": 1j,
    "huge": 10**5000,
}


@pytest.mark.parametrize("name", UNENCODABLE)
def test_objects_and_sets_cannot_be_encoded(name: str) -> None:
    with pytest.raises(PlainDataError):
        encode(UNENCODABLE[name])


def test_nesting_is_bounded() -> None:
    """Deep and self-containing lists are refused before the stack overflows."""
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(PlainDataError, match="nested"):
        encode(loop)


def test_decoded_arrays_are_writable_copies() -> None:
    """A policy may work in place."""
    array = decode(encode(np.arange(3)))
    array[0] = 9
    assert array.tolist() == [9, 1, 2]
