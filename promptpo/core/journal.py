"""The run directory and its append-only log.

A run is a directory whose state is replayed from ``journal.jsonl``. Everything that costs money or time goes through
`promptpo.core.work`: it is first looked up by its key, and written, flushed and fsynced before anything depends on
it. Resuming is therefore running the same program again: recorded results are returned, missing ones computed.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shlex
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from promptpo.core.candidate import CandidateId
from promptpo.errors import NoSuchRunError, RunError
from promptpo.files import FOLDER_MODE, check_json_bounds, create_directory, parse_json, read_regular

T = TypeVar("T")

JOURNAL = "journal.jsonl"


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the journal: line `n`, counted from 0 without gaps, written at `t`, in seconds since the epoch.

    docs/architecture.md lists the kinds. A key, for example "r2.c3", is unique within its kind. The data are a JSON value.
    """

    n: int
    t: float
    kind: str
    key: str
    data: Any

    def read(self, of: type[T]) -> T:
        """Return the data as a value of its payload class."""
        return from_json(of, self.data)


_made: dict[Any, Any] = {}


def adapter(of: Any) -> Any:
    """Return the `pydantic.TypeAdapter` of a type, cached, since building one takes longer than a thousand uses."""
    from pydantic import TypeAdapter  # slow to import

    if of not in _made:
        _made[of] = TypeAdapter(of)
    return _made[of]


def to_json(value: Any) -> Any:
    """Return the JSON form of a frozen dataclass or plain value; NaN and infinities survive."""
    return adapter(type(value)).dump_python(value, mode="json")


def from_json(of: type[T], data: Any) -> T:
    """Return the value from which `to_json` made the data."""
    value: T = adapter(of).validate_python(data)
    return value


def resume_command(directory: Path) -> str:
    """Return the command that continues a run."""
    return f"promptpo resume {shlex.quote(str(directory))}"


def how_to_finish(directory: Path) -> str:
    """Say how a run without a result gets one: from the process running it, or by a command."""
    try:
        with (directory / JOURNAL).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return "another process is running it"
    return f"continue with: {resume_command(directory)}"


@contextlib.contextmanager
def writing(directory: Path, then: str = "") -> Iterator[None]:
    """Turn a failed write into a RunError that says how to go on: with a command, by default the one that resumes the run."""
    try:
        yield
    except RunError:
        raise
    except OSError as error:
        goes_on = then or resume_command(directory)
        raise RunError(
            f"cannot write to {directory}: {error.strerror}. Make room, then: {goes_on}"
        ) from error


def read_events(path: Path) -> list[Event]:
    """Return the complete lines of a journal; RunError if there is none, or if a line but the last is damaged."""
    return _read(path)[0]


def file_of_run(path: Path) -> bytes:
    """Return the content of a file that every run has; RunError if it is missing or too large."""
    try:
        return check_json_bounds(read_regular(path))
    except OSError as error:
        raise NoSuchRunError(
            f"{path.parent} is not a run directory: there is no readable {path.name} in it."
        ) from error
    except ValueError as error:
        raise RunError(f"{path} cannot be read: {error}.") from error


def _read(path: Path) -> tuple[list[Event], int]:
    """Return the events, and the size of their lines in bytes."""
    raw = file_of_run(path)
    whole, events = raw[: raw.rfind(b"\n") + 1], list[Event]()  # nothing depended on a line torn by a kill
    for n, line in enumerate(whole.splitlines()):
        try:
            event = Event(**parse_json(line))
        except (ValueError, TypeError):
            event = None
        if event is None or event.n != n:
            raise RunError(f"{path} is damaged at line {n + 1}; restore it from a copy.")
        events.append(event)
    return events, len(whole)


class Journal:
    """The log of one run, held open by one process, as a context manager; all methods may be called from several threads.

    Raises:
        RunError: Another process has it open, it is damaged, or it cannot be written.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.path = directory / JOURNAL
        self._lock = threading.Lock()
        self._listeners: list[Callable[[Event], None]] = []
        self._follower: Callable[[Event], None] = lambda _: None
        self._followed: set[int] = set()
        try:
            create_directory(directory, FOLDER_MODE)
            # Unbuffered: the kernel has every line whose write returned.
            how = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            self._fd = os.open(self.path, how, 0o644)
        except OSError as error:
            raise RunError(f"cannot write to {directory}: {error.strerror}.") from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._events, whole = _read(self.path)
            os.ftruncate(self._fd, whole)
        except BaseException as error:
            self.close()  # releases the lock: this process may try again after a repair
            if isinstance(error, BlockingIOError):
                raise RunError(
                    f"{directory} is open in another promptpo process; wait for it or stop it."
                ) from error
            raise
        self._by_key = {(event.kind, event.key): event for event in self._events}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the directory; calling it again is harmless."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    @property
    def events(self) -> tuple[Event, ...]:
        """All events so far, oldest first."""
        with self._lock:
            return tuple(self._events)

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call `listener` with every event appended from now on."""
        self._listeners.append(listener)

    def follow(self, follower: Callable[[Event], None]) -> None:
        """Call only `follower`, once per event, with what `once` returns from now on, including events found already recorded."""
        self._follower, self._followed = follower, set()

    def find(self, kind: str, key: str, of: type[T] | None = None) -> Any | None:
        """Return the data recorded under this kind and key, as a value of class `of` if given; None if there is none."""
        event = self._by_key.get((kind, key))
        return event and (event.data if of is None else event.read(of))

    def once(self, kind: str, key: str, compute: Callable[[], Any], of: type[T] | None = None) -> Any:
        """Return the data recorded under this kind and key; if there is none, compute and record it first.

        They are returned as a value of class `of`, by default as a JSON value.
        """
        event = self._by_key.get((kind, key)) or self.add(kind, key, compute())
        self._follow(event)
        return event.data if of is None else event.read(of)

    def _follow(self, event: Event) -> bool:
        new = event.n not in self._followed
        if new:
            self._followed.add(event.n)
            self._follower(event)
        return new

    def follow_late_results(self, place: str, *, new_work: bool) -> bool:
        """Follow tuned programs and validations that this replay does not reach; return whether there is any.

        For example, a process is interrupted in round 3 and still records what its tuning has found. The next process
        learns of it before its first new request, at the place "r4", where new work begins, and records how many events it
        knew then, so that every later process learns of it at the same place.
        """
        name, events, new = f"{place}.known", self.events, False
        known = max((e.data for e in events if e.kind == "decision" and e.key.startswith(name)), default=0)
        for event in events if new_work else events[:known]:
            id_ = CandidateId.parse(event.key) if event.kind == "attempt" else None
            tuned = id_ is not None and id_.is_tuned
            if tuned or event.kind == "validation":
                new |= self._follow(event) and tuned and event.n >= known
        if new:
            known = len(events)
            self.once("decision", f"{name}{known}", lambda: known)
        return bool(known)

    async def once_async(
        self, kind: str, key: str, compute: Callable[[], Awaitable[Any]], of: type[T] | None = None
    ) -> Any:
        """Like `once`, for an awaitable."""
        value = None if (kind, key) in self._by_key else await compute()
        return self.once(kind, key, lambda: value, of)

    def of_kind(self, *kinds: str) -> Iterator[Event]:
        """Yield the events of these kinds, oldest first."""
        return (event for event in self.events if event.kind in kinds)

    def add(self, kind: str, key: str, value: Any) -> Event:
        """Append an event, a dataclass or a JSON value, under a new key; it is on disk when this returns, or RunError is raised."""
        data = value if isinstance(value, (dict, list, str, int, float)) or value is None else to_json(value)
        with self._lock:
            if (kind, key) in self._by_key:
                raise ValueError(f"the journal already has a {kind} event {key!r}")
            now = round(time.time(), 3)
            line: dict[str, Any] = {"n": len(self._events), "t": now, "kind": kind, "key": key, "data": data}
            self._append(json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
            event = self._by_key[kind, key] = Event(**line)
            self._events.append(event)
        for listener in self._listeners:
            listener(event)
        return event

    def _append(self, line: bytes) -> None:
        start = os.fstat(self._fd).st_size
        with writing(self.directory):
            try:
                left = memoryview(line)
                while left:
                    left = left[os.write(self._fd, left) :]
                os.fsync(self._fd)
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._fd, start)
                raise
