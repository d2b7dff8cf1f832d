"""One thread for numpy's linear algebra: for small matrices several threads wait for each other, thirty times as long."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from pathlib import Path

PREFIXES, SUFFIXES = ("scipy_", ""), ("64_", "")
"""Of OpenBLAS's functions, as numpy's wheels and distributions build it."""


@contextlib.contextmanager
def single_threaded() -> Iterator[None]:
    """Let OpenBLAS use one thread inside; nothing changes where another library does the algebra."""
    found = [(library, names) for library in _libraries() for names in _functions(library)]
    before = [int(getattr(library, get)()) for library, (get, _) in found]
    for library, (_, put) in found:
        getattr(library, put)(1)
    try:
        yield
    finally:
        for (library, (_, put)), threads in zip(found, before, strict=True):
            getattr(library, put)(threads)


def _libraries() -> list[ctypes.CDLL]:
    """The OpenBLAS libraries that this process has loaded."""
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return []
    paths = {line.split(maxsplit=5)[-1] for line in lines if "openblas" in line.rpartition("/")[2]}
    return [ctypes.CDLL(path) for path in sorted(paths)]


def _functions(library: ctypes.CDLL) -> list[tuple[str, str]]:
    """Names of the functions that tell and set the number of threads."""
    names = [
        (f"{p}openblas_get_num_threads{s}", f"{p}openblas_set_num_threads{s}")
        for p in PREFIXES
        for s in SUFFIXES
    ]
    return [pair for pair in names if all(hasattr(library, name) for name in pair)][:1]
