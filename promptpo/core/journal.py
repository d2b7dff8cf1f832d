"""The run directory and its append-only log.

A run is a directory; its state is what folding ``journal.jsonl`` gives. Everything that costs money or
time goes through `promptpo.core.work`: it is looked up by its key first, and written, flushed and fsynced
before anything depends on it. So resuming is running the same program again: what is on disk is
returned, what is not is done.
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
    """One line of the journal.

    Attributes:
        n: Counted from 0 without gaps.
        t: Seconds since the epoch.
        kind: What happened; docs/architecture.md lists the kinds.
        key: Its name inside the run, for example "r2.c3"; unique within its kind.
        data: JSON value.
    """

    n: int
    t: float
    kind: str
    key: str
    data: Any

    def read(self, of: type[T]) -> T:
        """The data as a value of the class that its kind has."""
        return from_json(of, self.data)


_made: dict[Any, Any] = {}


def adapter(of: Any) -> Any:
    """The `pydantic.TypeAdapter` of a type, made once: making it takes longer than a thousand uses."""
    from pydantic import TypeAdapter  # imported when it is needed

    if of not in _made:
        _made[of] = TypeAdapter(of)
    return _made[of]


def to_json(value: Any) -> Any:
    """The JSON form of a frozen dataclass (or of plain values); NaN and infinities survive."""
    return adapter(type(value)).dump_python(value, mode="json")


def from_json(of: type[T], data: Any) -> T:
    """The value that `to_json` was given."""
    value: T = adapter(of).validate_python(data)
    return value


def going_on(directory: Path) -> str:
    """The command that goes on with a run."""
    return f"promptpo resume {shlex.quote(str(directory))}"


def finishing(directory: Path) -> str:
    """Say how a run without a result gets one: by the process that works on it, or by a command."""
    try:
        with (directory / JOURNAL).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return "another process is running it"
    return f"continue with: {going_on(directory)}"


@contextlib.contextmanager
def writing(directory: Path, then: str = "") -> Iterator[None]:
    """Tell what to do where the disk does not take what is written.

    Args:
        directory: The run.
        then: The command that goes on when there is room; the one that resumes it, where nothing is said.

    Raises:
        RunError: It is full, or gone, or not ours.
    """
    try:
        yield
    except RunError:
        raise
    except OSError as error:
        goes_on = then or going_on(directory)
        raise RunError(
            f"cannot write to {directory}: {error.strerror}. Make room, then: {goes_on}"
        ) from error


def read_events(path: Path) -> list[Event]:
    """The whole lines of a journal; a torn last line is left out.

    Raises:
        RunError: There is no journal, or a line before the last is damaged.
    """
    return _read(path)[0]


def file_of_run(path: Path) -> bytes:
    """The content of a file that every run has.

    Raises:
        RunError: There is none, or it is too large.
    """
    try:
        return check_json_bounds(read_regular(path))
    except OSError as error:
        raise NoSuchRunError(
            f"{path.parent} is not a run directory: there is no readable {path.name} in it."
        ) from error
    except ValueError as error:
        raise RunError(f"{path} cannot be read: {error}.") from error


def _read(path: Path) -> tuple[list[Event], int]:
    """The events, and the bytes of their lines."""
    raw = file_of_run(path)
    whole, events = raw[: raw.rfind(b"\n") + 1], list[Event]()  # what a kill has torn was never relied on
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
    """The log of one run, held open by one process.

    Use it as a context manager. All methods may be called from several threads.

    Args:
        directory: The run directory; created when missing.

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
            # Unbuffered: a line is either handed to the system or it is not ours to worry about.
            how = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            self._fd = os.open(self.path, how, 0o644)
        except OSError as error:
            raise RunError(f"cannot write to {directory}: {error.strerror}.") from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._events, whole = _read(self.path)
            os.ftruncate(self._fd, whole)
        except BaseException as error:
            self.close()  # and with it the lock: the same process may try again once it is repaired
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
        """Release the directory; calling it twice is harmless."""
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
        """Call `follower`, and nobody else, with every event that `once` returns from now on, each once: recorded work as it is come to again."""
        self._follower, self._followed = follower, set()

    def find(self, kind: str, key: str, of: type[T] | None = None) -> Any | None:
        """The data recorded under this kind and key, as a value of a class where one is given; None when there is none."""
        event = self._by_key.get((kind, key))
        return event and (event.data if of is None else event.read(of))

    def once(self, kind: str, key: str, compute: Callable[[], Any], of: type[T] | None = None) -> Any:
        """Return what is recorded under this kind and key; if nothing is, compute it and record it first.

        Args:
            kind: What happened.
            key: Its name.
            compute: Called at most once in the life of the run.
            of: The class of the value, where the recorded JSON value is not to be returned as it is.

        Raises:
            RunError: The disk does not take it.
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

    def catch_up(self, end: int) -> bool:
        """Follow what the first `end` events tell of tuned programs and of validation; returns whether such a program was new."""
        new = False
        for event in self.events[:end]:
            id_ = CandidateId.parse(event.key) if event.kind == "attempt" else None
            tuned = id_ is not None and id_.is_tuned
            if tuned or event.kind == "validation":
                new |= self._follow(event) and tuned
        return new

    async def once_async(
        self, kind: str, key: str, compute: Callable[[], Awaitable[Any]], of: type[T] | None = None
    ) -> Any:
        """As `once`, of something that is waited for."""
        value = None if (kind, key) in self._by_key else await compute()
        return self.once(kind, key, lambda: value, of)

    def of_kind(self, *kinds: str) -> Iterator[Event]:
        """The events of these kinds, oldest first."""
        return (event for event in self.events if event.kind in kinds)

    def add(self, kind: str, key: str, value: Any) -> Event:
        """Append one event; when this returns it is on the disk.

        Args:
            kind: What happened.
            key: Its name; must be new for this kind.
            value: A dataclass of `promptpo.core.candidate` or a JSON value.

        Raises:
            RunError: The disk does not take it (full, or gone).
        """
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
