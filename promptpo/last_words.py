"""What a process cannot say itself: that compiled code, ``os._exit`` or somebody else has ended it."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import re

from promptpo.errors import place_among

OVER = "over"
_FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$', re.MULTILINE)
_pipes: list[int] = []


def watch() -> None:
    """Have a second process wait for the end of this one; call it before anything else runs here."""
    read, write = os.pipe()
    if os.fork():
        os.close(read)
        faulthandler.enable(write, all_threads=False)
        _pipes.append(write)
        note("")
        return
    try:
        os.setsid()  # Ctrl-C is not for it
        for other in {0, 1, write} - {read}:
            with contextlib.suppress(OSError):  # some are started without standard input or output
                os.close(other)
        with os.fdopen(read, "rb") as pipe:
            then, _, left = pipe.read().decode("utf-8", "replace").rpartition("\0")[2].partition("\n")
        if then != OVER:
            goes_on = f" What was done is kept; go on with: {then}" if then else ""
            os.write(2, f"promptpo: stopped {cause(left)}.{goes_on}\n".encode())
    finally:  # whatever happens, the work is the other process's alone
        os._exit(0)


def note(then: str) -> None:
    """Name the command that goes on from here; `OVER` where there is nothing to say of the end."""
    for pipe in _pipes:
        with contextlib.suppress(OSError):  # who would say it may have been killed itself
            os.write(pipe, f"\0{then}\n".encode())


def cause(left: str) -> str:
    """What ended a process, by what its fault handler has left."""
    fault = re.match("Fatal Python error: (.+)", left)
    if fault is None:
        return "from outside, or by os._exit in code that it called"
    return f"by a fault in compiled code, {fault[1].lower()}{place_among(_FRAME.findall(left))}"
