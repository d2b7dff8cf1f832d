"""``inbox:DIR``: a person or another program answers.

Each request is a file in a directory, and the run waits until someone has put the answer's file beside it:

    DIR/0003.md          the question: the whole prompt as one text, written atomically
    DIR/0003.answer.md   its answer, read when it is not empty and has been unchanged for `SETTLE_SECONDS`
    DIR/.0003.json       the run and call of the question

A question is identified by its run, call and text. A killed run therefore finds its questions again when resumed, asks
none twice, and uses the answers that arrived in the meantime; several runs can share a directory.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import json
import math
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.errors import FatalProviderError, ProviderError, UsageError
from promptpo.files import read_json, read_regular, write_atomically
from promptpo.llm.base import Capabilities
from promptpo.llm.command import TextProvider
from promptpo_sandbox.text import clean

if TYPE_CHECKING:
    from promptpo.llm.base import Pricing, Request

POLL_SECONDS = 0.3
"""Time between checks for an answer."""

SETTLE_SECONDS = 1.0
"""Time for which an answer's file must be unchanged, long enough to write it in one go."""

LOCK = ".asking"
"""File locked by every waiting run while it is alive."""

NOTES = ".[0-9]*.json"
"""Pattern of the files that record the run and call of a question."""


@dataclass(frozen=True, slots=True)
class WaitingRequest:
    """A request in an inbox.

    Attributes:
        note: The file that records its run and call.
        run: The run that made it.
        call: The request's key.
        purpose: The purpose of the answer.
        digest: SHA-256 of its text.
        asked: Time of the request, in seconds since the epoch.
    """

    note: Path
    run: str
    call: str
    purpose: str
    digest: str
    asked: float

    @property
    def directory(self) -> Path:
        """The inbox."""
        return self.note.parent

    @property
    def number(self) -> int:
        """Its number in the inbox, from 1."""
        return _number(self.note)

    @property
    def path(self) -> Path:
        """The file of the question."""
        return self.directory / f"{self.number:04d}.md"

    @property
    def answer(self) -> Path:
        """The file of the answer."""
        return self.directory / f"{self.number:04d}.answer.md"

    @property
    def answered(self) -> str:
        """Current text of the answer's file; empty if the file is missing, unreadable or blank."""
        with contextlib.suppress(OSError):
            text = read_regular(self.answer, links=True).decode("utf-8-sig", "backslashreplace")
            return text if text.strip() else ""
        return ""


class InboxLLM(TextProvider):
    """Write questions to files, and wait for answers without a time limit.

    Args:
        directory: The inbox; created with the first request.
        run: Identifies this run among others with the same inbox.
        price: The user's price of tokens, which are estimated.

    Raises:
        UsageError: The path is not a directory.
    """

    capabilities = Capabilities(sees=None, stays_here=True, repeats=True)

    def __init__(self, directory: Path | str, *, run: str = "", price: Pricing | None = None) -> None:
        self._directory = Path(directory).expanduser().absolute()
        if self._directory.exists() and not self._directory.is_dir():
            raise UsageError(f"{self._directory} is not a directory; name a directory for the requests.")
        super().__init__(
            f"inbox:{self._directory}", "inbox", price
        )  # absolute: a run can be resumed from anywhere
        self._run = run
        self._lock: int | None = None

    async def _answer(self, request: Request, text: str) -> str:
        """Write the question unless it exists, and wait for the answer.

        Raises:
            ProviderError: The question was deleted.
            FatalProviderError: The directory cannot be written, or was deleted.
        """
        try:
            return await _answer_to(self._question(request, text))
        except OSError as error:
            raise FatalProviderError(f"cannot use the inbox {self._directory}: {error.strerror}.") from error

    def _question(self, request: Request, text: str) -> WaitingRequest:
        """Return the question of a request, writing its files if they do not exist."""
        self._directory.mkdir(parents=True, exist_ok=True)
        if self._lock is None:
            self._lock = _lock_inbox(self._directory)
        digest = hashlib.sha256(text.encode()).hexdigest()
        same = (self._run, request.key, digest)
        for question in questions(self._directory, NOTES):
            if (question.run, question.call, question.digest) == same:
                break
        else:
            question = self._claim_number(request, digest)
        if not question.path.exists():
            write_atomically(question.path, text)
        return question

    def _claim_number(self, request: Request, digest: str) -> WaitingRequest:
        """Create a question under a number that no process uses."""
        facts: dict[str, Any] = {
            "run": self._run,
            "call": request.key,
            "purpose": request.purpose,
            "digest": digest,
            "asked": time.time(),
        }
        number = max(map(_number, self._directory.glob(NOTES)), default=0)
        while True:
            number += 1
            note = self._directory / f".{number:04d}.json"
            with contextlib.suppress(FileExistsError), note.open("x", encoding="utf-8") as file:
                json.dump(facts, file)
                return WaitingRequest(note, **facts)

    async def aclose(self) -> None:
        """Release the lock on the directory, and leave open questions there; calling it twice is harmless."""
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)


async def _answer_to(question: WaitingRequest) -> str:
    """Wait for the complete answer and return its text."""
    seen, since = None, 0.0
    while True:
        now = time.monotonic()
        with contextlib.suppress(FileNotFoundError):
            text = question.answered  # read before its size, so that a later change is noticed
            found = question.answer.stat()
            state = (found.st_ino, found.st_size, found.st_mtime_ns)
            if state != seen:
                seen, since = state, now
            elif now - since >= SETTLE_SECONDS and text:
                return text
        if seen is None and not question.path.exists():
            question.directory.stat()  # raises if the whole inbox was deleted, which is fatal
            raise ProviderError(f"{question.path} was deleted without an answer.")
        await asyncio.sleep(POLL_SECONDS)


def _number(note: Path) -> int:
    digits = note.name.split(".")[1]
    return int(digits) if digits.isdecimal() else 0


def questions(directory: Path, notes: str = f"**/{NOTES}") -> Iterator[WaitingRequest]:
    """Yield the questions of an inbox in order, then those of inboxes below it; notes that record none are skipped."""
    for note in sorted(directory.glob(notes), key=lambda note: (note.parent != directory, note)):
        if (question := _read_note(note)) is not None:
            yield question


def _read_note(note: Path) -> WaitingRequest | None:
    """Return the question that a note records; None if the note is torn or foreign."""
    with contextlib.suppress(ValueError, TypeError, OSError):
        found = WaitingRequest(note, **read_json(note))
        texts = (found.run, found.call, found.purpose, found.digest)
        linked = found.path.is_symlink()  # may lead out of the inbox
        if all(isinstance(text, str) for text in texts) and math.isfinite(found.asked) and not linked:
            return found
    return None


def waiting(directory: Path) -> list[WaitingRequest]:
    """Return the questions without an answer in order, those in subdirectories last.

    Raises:
        UsageError: There is no such directory.
    """
    if not directory.is_dir():
        raise UsageError(
            f"there is no inbox {directory}; a run creates one: promptpo optimize ENV_ID --model inbox:{directory}"
        )
    return [item for item in questions(directory) if item.path.exists() and not item.answered]


def put_answer(directory: Path, number: int, text: str) -> Path:
    """Write the answer to a question atomically, and return its path.

    Raises:
        UsageError: There is no such open request, or the text is empty.
    """
    open_ones = {item.number: item for item in waiting(directory) if item.directory == directory}
    if number not in open_ones:
        numbers = ", ".join(map(str, open_ones)) or "none"
        raise UsageError(f"{directory} has no open request {number}; open requests: {numbers}.")
    if not text.strip():
        raise UsageError("the answer is empty; pass it on standard input.")
    write_atomically(open_ones[number].answer, clean(text))
    return open_ones[number].answer


def has_live_run(directory: Path) -> bool | None:
    """Return whether a run that waits for answers here or in a subdirectory is alive; None if there never was one."""
    locks = [*directory.glob(f"**/{LOCK}")]
    return any(map(_is_locked, locks)) if locks else None


def _is_locked(path: Path) -> bool:
    with contextlib.suppress(FileNotFoundError, PermissionError), path.open("r+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def _lock_inbox(directory: Path) -> int:
    """Lock an inbox for `has_live_run`, and return the file descriptor."""
    lock = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    with contextlib.suppress(OSError):  # without locks, only `has_live_run` fails
        fcntl.flock(lock, fcntl.LOCK_SH)
    return lock
