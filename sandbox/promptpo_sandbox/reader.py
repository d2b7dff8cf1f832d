"""Parsing and checking of untrusted texts in a confined process, which is kept for the next text."""

from __future__ import annotations

import atexit
import os
import threading
from typing import Any

from promptpo_sandbox.asked import Asked, AskFailedError
from promptpo_sandbox.box import Sandbox
from promptpo_sandbox.errors import SandboxError
from promptpo_sandbox.results import Failure, Limits, PlainData

GATE = "promptpo_sandbox.gate.check"
MOST_VALUES = 200_000  # in one answer

READER_LIMITS = Limits(call_seconds=5.0, message_bytes=1 << 26)


class UnreadableError(SandboxError):
    """A text cannot be read within the limits; the message is a clause that can end a sentence about the text."""


class Reader:
    """Applies trusted functions to untrusted texts in a confined process; they return plain data.

    Missing layers of protection are accepted, since no text is executed.

    Args:
        limits: Limits of the process; ``call_seconds`` applies to each call.
    """

    def __init__(self, limits: Limits = READER_LIMITS) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._modules = {GATE: ""}
        self._box: Sandbox | None = None
        self._asked: Asked | None = None
        self._process = 0

    def know(self, module: str, package_directory: str) -> None:
        """Make the functions of a module available to `read`.

        Args:
            module: Its import name.
            package_directory: Directory of its top-level package; empty for an installed one.
        """
        with self._lock:
            self._modules[module] = package_directory
        self.close()

    def read(self, module: str, function: str, *arguments: PlainData) -> Any:
        """Call a function in the guest and return its result.

        Args:
            module: The import name of a module registered by `know`.
            function: Its name.
            arguments: Its arguments.

        Raises:
            UnreadableError: The function exceeded the limits, or failed.
        """
        with self._lock:
            asked, self._asked = self._ready(), None  # kept only if it answers without interruption
            try:
                found = asked.ask(
                    "read", (module, function, arguments), lambda answer: answer, values=MOST_VALUES
                )
            except AskFailedError as error:
                raise UnreadableError(f"it cannot be read: {error.failure.message}") from error
            self._asked = asked
            return found

    def _ready(self) -> Asked:
        if self._process != os.getpid():  # in a fork: the guest belongs to the parent
            self._box, self._asked, self._process = None, None, os.getpid()
        if self._box is None:
            self._box = Sandbox(self._limits, allow_weaker=True, core=-1, modules=self._modules)
            atexit.register(self._box.close)
        if self._asked is None:
            self._asked = self._box.open_reader()
        return self._asked

    def close(self) -> None:
        """End the process; the next `read` starts a new one."""
        with self._lock:
            if self._box is not None and self._process == os.getpid():
                self._box.close()
            self._box = self._asked = None


reader = Reader()  # shared by this process


def check_source(source: str, limits: Limits | None = None) -> Failure | None:
    """Return why the gate rejects a source, or None; it is parsed in a confined process, never compiled or run."""
    try:
        refused = reader.read(GATE, "reasons", source, (limits or Limits()).source_bytes)
    except UnreadableError as error:
        refused = (str(error), "")
    return None if refused is None else Failure("rejected", *refused)
