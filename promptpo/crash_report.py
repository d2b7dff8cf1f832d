"""Reports of crashes that a command cannot report itself, and of what environments print, by a second process."""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

from promptpo.errors import place_among
from promptpo_sandbox.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Iterable

OVER, EXITED = "over", "exited"
LEAVE_SECONDS = 10.0
"""Time limit on exit handlers."""

MAX_PRINTED_LINES = 10
"""Maximum number of lines shown of an environment's own output."""
LAST_LINES_SECONDS = 0.5
"""Time to read the rest of a pipe whose writers may still live."""
PRINTS_MORE = "promptpo: the environment prints more; further output is not shown, here or during rollouts."

_FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$', re.MULTILINE)
_COLOR = re.compile(r"\x1b\[[0-9;]*m")
_GROUP = re.compile(r"\x01([+-])(\d+)\n")
_pipes: list[int] = []
_guards: list[subprocess.Popen[bytes]] = []
_foreign: list[TextIO] = []
MARK = "PROMPTPO_COMMAND"
"""Environment variable that marks the processes started by a command, so that they can be found after its end."""
GUARD = """
import os, signal, sys
groups = {}
for line in sys.stdin:
    if line[0] == "\\1":  # others are notes for people
        groups[int(line[2:])] = line[1] == "+"
for group in [group for group, alive in groups.items() if alive]:
    for kill in os.killpg, os.kill:  # it may not have got as far as a group of its own
        try:
            kill(group, signal.SIGKILL)
        except OSError:
            pass
"""
"""Program that waits for the end of a process that uses promptpo from Python, which does not call `watch`."""
_exit = os._exit


def watch() -> None:
    """Have a second process wait for the end of this one; call it before anything else runs here.

    From then on descriptor 1 is for foreign code, compiled or in other processes, whose first lines the second process shows on
    standard error. `sys.stdout` still writes to standard output.
    """
    read, write = os.pipe()
    printed, printing = os.pipe()
    mark = os.environ[MARK] = f"{os.getpid()}-{time.time_ns()}"
    group = os.getpgrp()
    if os.fork():
        os.close(read)
        os.close(printed)
        faulthandler.enable(write, all_threads=False)
        _pipes.append(write)
        note("")
        watch_exits(write)
        _divert(printing)
        return
    try:
        os.setsid()  # not interrupted by Ctrl-C
        for other in {0, 1, write, printing} - {read, printed}:
            with contextlib.suppress(OSError):  # standard input or output may be missing
                os.close(other)
        lines = os.fdopen(printed, errors="replace")
        showing = threading.Thread(target=show_first_lines, args=[lines], daemon=True)
        showing.start()
        with os.fdopen(read, "rb") as pipe:
            notes = pipe.read().decode("utf-8", "replace")
        then, _, left = _GROUP.sub("", notes).rpartition("\0")[2].partition("\n")
        _end_groups(notes)
        _end_marked(mark, group)
        showing.join(LAST_LINES_SECONDS)
        if then != OVER:
            goes_on = f" Completed work is kept; continue with: {then}" if then else ""
            os.write(2, f"promptpo: stopped {cause(left)}.{goes_on}\n".encode())
    finally:  # whatever happens, only the first process continues
        os._exit(0)


def _divert(printing: int) -> None:
    """Keep standard output for `sys.stdout`, and replace descriptor 1 by a pipe for all other writers."""
    with contextlib.suppress(OSError, AttributeError):  # there may be no standard output
        shared = sys.stdout.fileno()
        own = os.fdopen(os.dup(shared), "w", 1, sys.stdout.encoding, sys.stdout.errors)
        os.dup2(printing, shared)
        sys.stdout = sys.__stdout__ = own  # type: ignore[misc]
        _foreign.append(os.fdopen(shared, "w", 1, "utf-8", "backslashreplace", closefd=False))
    os.close(printing)


def foreign_output() -> TextIO:
    """Return the stream for output of foreign code."""
    return _foreign[0] if _foreign else sys.stdout


def show_first_lines(lines: Iterable[str]) -> None:
    """Show an environment's first lines on standard error, and all of promptpo's notes among them."""
    n = 0
    for line in lines:
        ours = line.startswith("promptpo: ")
        n += not ours
        if ours or n <= MAX_PRINTED_LINES + 1:
            text = (
                PRINTS_MORE
                if n > MAX_PRINTED_LINES and not ours
                else clean_line(_COLOR.sub("", line.rstrip("\n")))
            )
            with contextlib.suppress(OSError):  # the reader may be gone
                print(text, file=sys.stderr, flush=True)


def watch_exits(pipe: int) -> None:
    """Make ``os._exit``, with which simulators end their process, report where it was called and never return status 0."""
    watched = os.getpid()

    def leave_at_once(status: int) -> NoReturn:
        if os.getpid() == watched:
            with contextlib.suppress(OSError):
                os.write(pipe, f"{EXITED}\n".encode())
                faulthandler.dump_traceback(pipe, all_threads=False)
            end_children()
            status = status or 1
        _exit(status)

    os._exit = leave_at_once


def _end_groups(notes: str) -> None:
    """End process groups that were noted and not released."""
    signs = {int(group): sign for sign, group in _GROUP.findall(notes)}
    for group in [group for group, sign in signs.items() if sign == "+"]:
        end_group(group)
        with contextlib.suppress(OSError):  # it may not have its own group yet
            os.kill(group, signal.SIGKILL)


def _end_marked(mark: str, group: int) -> None:
    """End processes of this group started by a process that is gone; on Linux, their environment identifies them."""
    wanted = f"{MARK}={mark}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # processes come and go, and some belong to other users
            pid = int(process.name)
            marked = wanted in (process / "environ").read_bytes().split(b"\0")
            if marked and os.getpgid(pid) == group and not _is_tracker(process):
                os.kill(pid, signal.SIGKILL)


def _is_tracker(process: Path) -> bool:
    """Whether a process is the resource tracker of `multiprocessing`, which still has work at the end."""
    return "resource_tracker" in (process / "cmdline").read_text()


def end_group(group: int) -> None:
    """End all processes of a group, if there are any."""
    with contextlib.suppress(OSError):
        os.killpg(group, signal.SIGKILL)


def note(then: str) -> None:
    """Note the command that continues from here; `OVER` if there is nothing to report at the end."""
    _write(f"\0{then}\n")


def note_group(group: int, *, over: bool = False) -> None:
    """Have a process group ended with this process, however that ends; `over` if the group has ended already."""
    if not _pipes:
        read, write = os.pipe()
        guard = [sys.executable, "-I", "-S", "-c", GUARD]
        _guards.append(subprocess.Popen(guard, stdin=read, start_new_session=True))
        os.close(read)
        _pipes.append(write)
    _write(f"\1{'-' if over else '+'}{group}\n")


def _write(text: str) -> None:
    for pipe in _pipes:
        with contextlib.suppress(OSError):  # the second process may have been killed itself
            os.write(pipe, text.encode())


def leave(code: int, *, group: bool = False) -> NoReturn:
    """End this process after running its exit handlers, without waiting for threads that an environment left.

    Args:
        code: Exit status.
        group: Whether to end the whole process group, which this process leads.
    """
    late = threading.Timer(LEAVE_SECONDS, _exit, [code])
    late.daemon = True
    late.start()
    try:
        with contextlib.suppress(BaseException):
            atexit._run_exitfuncs()  # noqa: SLF001 - there is no public name for it
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):  # the reader may be gone
                stream.flush()
        if group:
            end_group(os.getpid())
        end_children()
    finally:  # a signal that arrives now, too
        _exit(code)


def end_children() -> None:
    """End processes of this group that were started from here, such as simulators (Linux only)."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):  # processes come and go
            parent, group = stat.read_text().rpartition(")")[2].split()[1:3]
            if int(group) == os.getpgrp():
                parents[int(stat.parent.name)] = int(parent)
    ours = {os.getpid()}
    while found := {child for child, parent in parents.items() if parent in ours} - ours:
        ours |= found
    for child in ours - {os.getpid()}:
        with contextlib.suppress(OSError):
            if not _is_tracker(Path(f"/proc/{child}")):
                os.kill(child, signal.SIGKILL)


def cause(left: str) -> str:
    """Return what ended a process, as a phrase, from the output of its fault handler."""
    if left.startswith(EXITED):
        return f"by os._exit in code that it called{place_among(_FRAME.findall(left))}"
    fault = re.match("Fatal Python error: (.+)", left)
    if fault is None:
        return "from outside"
    return f"by a fault in compiled code, {fault[1].lower()}{place_among(_FRAME.findall(left))}"
