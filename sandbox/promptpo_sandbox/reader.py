"""Reading texts that nobody trusts: parsed, checked and taken apart in a confined process, which stays for the next one."""

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
    """A text cannot be read within the limits; the message is what a sentence about it may end with."""


class Reader:
    """Calls functions of ours on texts of others, in a confined process; what they return is plain data.

    It takes the layers of protection that there are, since nothing of a text is run.

    Args:
        limits: ``call_seconds`` and ``memory_bytes`` are those of one answer.
    """

    def __init__(self, limits: Limits = READER_LIMITS) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._modules = {GATE: ""}
        self._box: Sandbox | None = None
        self._asked: Asked | None = None
        self._process = 0

    def know(self, module: str, package_directory: str) -> None:
        """Have a module ready whose functions can be called.

        Args:
            module: Its name.
            package_directory: Where its top-level package lies.
        """
        with self._lock:
            self._modules[module] = package_directory
        self.close()

    def read(self, module: str, function: str, *arguments: PlainData) -> Any:
        """Call a function in the guest and return its result.

        Args:
            module: One that is known.
            function: Its name.
            arguments: Of the function.

        Raises:
            UnreadableError: It took too long or too much memory, or failed.
        """
        with self._lock:
            asked, self._asked = self._ready(), None  # until it has answered, and is not interrupted
            try:
                found = asked.ask(
                    "read", (module, function, arguments), lambda answer: answer, values=MOST_VALUES
                )
            except AskFailedError as error:
                raise UnreadableError(f"it cannot be read: {error.failure.message}") from error
            self._asked = asked
            return found

    def _ready(self) -> Asked:
        if self._process != os.getpid():  # another process, such as a fork of the one that it belongs to
            self._box, self._asked, self._process = None, None, os.getpid()
        if self._box is None:
            self._box = Sandbox(self._limits, allow_weaker=True, core=-1, modules=self._modules)
            atexit.register(self._box.close)
        if self._asked is None:
            self._asked = self._box.open_reader()
        return self._asked

    def close(self) -> None:
        """End the process; it is started again when something is read."""
        with self._lock:
            if self._box is not None and self._process == os.getpid():
                self._box.close()
            self._box = self._asked = None


reader = Reader()  # the one of this process


def check_source(source: str, limits: Limits | None = None) -> Failure | None:
    """Whether the gate lets a source pass: it is parsed, in a confined process, and never compiled or run."""
    try:
        refused = reader.read(GATE, "reasons", source, (limits or Limits()).source_bytes)
    except UnreadableError as error:
        refused = (str(error), "")
    return None if refused is None else Failure("rejected", *refused)
