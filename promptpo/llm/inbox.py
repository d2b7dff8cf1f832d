"""``inbox:DIR``: a model that answers by hand.

Each request is a file in a directory, and the run waits until somebody, a person or a program, has put the
answer's file beside it:

    DIR/0003.md          the question: the whole prompt as one text, complete as soon as it is there
    DIR/0003.answer.md   its answer, taken when it is not empty and has kept its size for `SETTLE_SECONDS`
    DIR/.0003.json       which call of which run it is

A question is known by its run, its call and its text. So a run that was killed finds its questions again, asks
none twice, and takes the answers that came while it was gone; several runs can share a directory.
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

LOOK_SECONDS = 0.3
"""Between two looks for an answer."""

SETTLE_SECONDS = 1.0
"""How long an answer's file must not have changed: long enough for whoever writes it in one go."""

LOCK = ".asking"
"""Locked by every run that waits here, for as long as it lives."""

NOTES = ".[0-9]*.json"
"""The files that say which call of which run a question is."""


@dataclass(frozen=True, slots=True)
class WaitingRequest:
    """One request in an inbox.

    Attributes:
        note: The file that says which call of which run it is.
        run: The run that asks.
        call: The request's key.
        purpose: What the answer is for.
        digest: Of its text.
        asked: When, in seconds since the epoch.
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
        """Its number there, from 1."""
        return _number(self.note)

    @property
    def path(self) -> Path:
        """The file to be read."""
        return self.directory / f"{self.number:04d}.md"

    @property
    def answer(self) -> Path:
        """The file to be written."""
        return self.directory / f"{self.number:04d}.answer.md"

    @property
    def answered(self) -> str:
        """Current text of the answer's file; empty where the file is missing, unreadable or empty."""
        with contextlib.suppress(OSError):
            text = read_regular(self.answer, links=True).decode("utf-8-sig", "backslashreplace")
            return text if text.strip() else ""
        return ""


class InboxLLM(TextProvider):
    """Asks by file, and waits without a limit.

    Args:
        directory: The inbox; created with the first request.
        run: What tells this run from others that ask here.
        price: What a call costs, where the user states it; tokens are estimated.

    Raises:
        UsageError: There is something else at that path.
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
        """Ask, unless that was done before, and wait for the answer.

        Raises:
            ProviderError: Somebody took the question away.
            FatalProviderError: The directory cannot be written, or is gone.
        """
        try:
            return await _answer_to(self._question(request, text))
        except OSError as error:
            raise FatalProviderError(f"cannot use the inbox {self._directory}: {error.strerror}.") from error

    def _question(self, request: Request, text: str) -> WaitingRequest:
        """The question's files, written where they are not there yet."""
        self._directory.mkdir(parents=True, exist_ok=True)
        if self._lock is None:
            self._lock = _hold(self._directory)
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
        """A question under a number that nobody has, another process included."""
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
        """Let go of the directory; questions without an answer stay. Calling it twice is harmless."""
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)


async def _answer_to(question: WaitingRequest) -> str:
    """The text of the answer, once it is all there."""
    seen, since = None, 0.0
    while True:
        now = time.monotonic()
        with contextlib.suppress(FileNotFoundError):
            text = question.answered  # before its size, so that both are of one moment
            found = question.answer.stat()
            state = (found.st_ino, found.st_size, found.st_mtime_ns)
            if state != seen:
                seen, since = state, now
            elif now - since >= SETTLE_SECONDS and text:
                return text
        if seen is None and not question.path.exists():
            question.directory.stat()  # gone altogether: no later question can be answered either
            raise ProviderError(f"{question.path} was deleted without an answer.")
        await asyncio.sleep(LOOK_SECONDS)


def _number(note: Path) -> int:
    digits = note.name.split(".")[1]
    return int(digits) if digits.isdecimal() else 0


def questions(directory: Path, notes: str = f"**/{NOTES}") -> Iterator[WaitingRequest]:
    """The questions of an inbox, in their order, with those of inboxes below it, but for `unreadable_notes`."""
    for note in sorted(directory.glob(notes), key=lambda note: (note.parent != directory, note)):
        if (question := _read_note(note)) is not None:
            yield question


def _read_note(note: Path) -> WaitingRequest | None:
    """The question that a note is of; None where a kill has torn it, or somebody else wrote it."""
    with contextlib.suppress(ValueError, TypeError, OSError):
        found = WaitingRequest(note, **read_json(note))
        texts = (found.run, found.call, found.purpose, found.digest)
        linked = found.path.is_symlink()  # to what is none of the inbox's
        if all(isinstance(text, str) for text in texts) and math.isfinite(found.asked) and not linked:
            return found
    return None


def unreadable_notes(directory: Path) -> list[Path]:
    """Notes of an inbox and of those below it that are of no question."""
    return [note for note in sorted(directory.glob(f"**/{NOTES}")) if _read_note(note) is None]


def waiting(directory: Path) -> list[WaitingRequest]:
    """The questions that have no answer yet, in their order, those in subdirectories after the others.

    Raises:
        UsageError: There is no such directory.
    """
    if not directory.is_dir():
        raise UsageError(
            f"there is no inbox {directory}; a run creates one: promptpo optimize ENV_ID --model inbox:{directory}"
        )
    return [item for item in questions(directory) if item.path.exists() and not item.answered]


def put_answer(directory: Path, number: int, text: str) -> Path:
    """Write the answer to a question, whole or not at all.

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
    """Whether a run that waits for answers here, or in a subdirectory, is alive; None where none ever did."""
    locks = [*directory.glob(f"**/{LOCK}")]
    return any(map(_is_locked, locks)) if locks else None


def _is_locked(path: Path) -> bool:
    with contextlib.suppress(FileNotFoundError, PermissionError), path.open("r+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def _hold(directory: Path) -> int:
    """A descriptor that shows `someone_asks` that this process is there."""
    lock = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    with contextlib.suppress(OSError):  # a file system without locks: nobody can tell, nothing else is lost
        fcntl.flock(lock, fcntl.LOCK_SH)
    return lock
